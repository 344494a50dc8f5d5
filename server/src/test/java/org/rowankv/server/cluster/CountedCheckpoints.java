package org.rowankv.server.cluster;

import java.io.IOException;
import java.nio.channels.ReadableByteChannel;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.rowankv.server.checkpoint.CheckpointStore;

/** Checkpoints of which it counts what is read and published. */
record CountedCheckpoints(CheckpointStore store, AtomicInteger imagesRead, AtomicInteger published)
        implements CheckpointStore {
    @Override
    public List<String> names() throws IOException {
        return store.names();
    }

    @Override
    public ReadableByteChannel read(String name) throws IOException {
        if (name.endsWith(".image")) {
            imagesRead.incrementAndGet();
        }
        return store.read(name);
    }

    @Override
    public Writing write(String name) throws IOException {
        if (!name.endsWith(".image")) {
            published.incrementAndGet();
        }
        return store.write(name);
    }

    @Override
    public void delete(Collection<String> names) throws IOException {
        store.delete(names);
    }

    @Override
    public void run(String threadName, Runnable work) {
        store.run(threadName, work);
    }
}
