package org.rowankv.server.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Collection;
import java.util.List;

/**
 * Where one server's checkpoints are: a few files, each written once as a whole. After a crash a file is there as it was
 * committed, or not at all; even that is not relied on, since every file carries checksums.
 *
 * <p>Used by one thread at a time, and only inside {@link #run} or by an agent's thread, but for reading, which several may.
 */
public interface CheckpointStore {
    /** A file being written. */
    interface Writing extends AutoCloseable {
        /** Appends the buffer's remaining bytes. */
        void write(ByteBuffer bytes) throws IOException;

        /** From now on the file is there, in place of any other of that name, and survives what the device survives. */
        void commit() throws IOException;

        /** Drops what was not committed. */
        @Override
        void close() throws IOException;
    }

    /** The files there are. */
    List<String> names() throws IOException;

    ReadableByteChannel read(String name) throws IOException;

    Writing write(String name) throws IOException;

    /** Removes files for good; those that are not there are none. */
    void delete(Collection<String> names) throws IOException;

    /** Runs work on a thread that may touch the files, and waits for it. */
    void run(String threadName, Runnable work);
}
