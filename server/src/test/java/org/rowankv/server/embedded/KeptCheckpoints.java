package org.rowankv.server.embedded;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.checkpoint.CheckpointStore;

/** One server's checkpoints in memory: a file exists from its commit on. */
public final class KeptCheckpoints implements CheckpointStore {
    private final Map<String, byte[]> files;
    private Runnable beforeCommit = () -> {};
    /** Prefix of the file names whose next commit fails; null for none. */
    private @Nullable String refused;

    public KeptCheckpoints() {
        this(Map.of());
    }

    private KeptCheckpoints(Map<String, byte[]> files) {
        this.files = new TreeMap<>(files);
    }

    KeptCheckpoints copy() {
        return new KeptCheckpoints(files); // a file is immutable
    }

    /** Runs once, before the commit of the next file. */
    public void beforeCommit(Runnable action) {
        beforeCommit = () -> {
            beforeCommit = () -> {};
            action.run();
        };
    }

    /** Makes the next commit of such a file fail, as on a full disk. */
    public void refuseNext(String prefix) {
        refused = prefix;
    }

    @Override
    public List<String> names() {
        return List.copyOf(files.keySet());
    }

    @Override
    public ReadableByteChannel read(String name) throws IOException {
        final byte[] bytes = files.get(name);
        if (bytes == null) {
            throw new FileNotFoundException(name);
        }
        return Channels.newChannel(new ByteArrayInputStream(bytes));
    }

    @Override
    public Writing write(String name) {
        final ByteArrayOutputStream written = new ByteArrayOutputStream();
        return new Writing() {
            @Override
            public void write(ByteBuffer bytes) {
                final byte[] copy = new byte[bytes.remaining()];
                bytes.get(copy);
                written.writeBytes(copy);
            }

            @Override
            public void commit() throws IOException {
                beforeCommit.run();
                if (refused != null && name.startsWith(refused)) {
                    refused = null;
                    throw new IOException("no space is left for " + name);
                }
                files.put(name, written.toByteArray());
            }

            @Override
            public void close() {
                written.reset();
            }
        };
    }

    @Override
    public void delete(Collection<String> names) {
        names.forEach(files::remove);
    }

    @Override
    public void run(String threadName, Runnable work) {
        work.run();
    }
}
