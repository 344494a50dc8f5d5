package org.rowankv.server.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Collection;
import java.util.List;

/**
 * The storage of one server's checkpoints: a few files, each written once as a whole. After a crash a file is there as
 * committed, or not at all; even that is not relied on, since every file has checksums.
 *
 * <p>Used by one thread at a time, and only inside {@link #run} or by an agent's thread; several threads may read.
 */
public interface CheckpointStore {
    /** A file being written. */
    interface Writing extends AutoCloseable {
        /** Appends the buffer's remaining bytes. */
        void write(ByteBuffer bytes) throws IOException;

        /** From now on the file exists, replaces any other of that name, and survives what the device survives. */
        void commit() throws IOException;

        /** Drops uncommitted bytes. */
        @Override
        void close() throws IOException;
    }

    /** The existing files. */
    List<String> names() throws IOException;

    ReadableByteChannel read(String name) throws IOException;

    Writing write(String name) throws IOException;

    /** Deletes files durably; missing ones are ignored. */
    void delete(Collection<String> names) throws IOException;

    /** Runs work on a thread that may access the files, and waits for it. */
    void run(String threadName, Runnable work);
}
