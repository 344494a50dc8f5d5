package org.rowankv.server.recovery;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.concurrent.DetachedThread;
import org.rowankv.server.durability.FileThread;

/**
 * The threads that read the segments of one area: each takes the next free segment. The caller's thread is one of them;
 * the others end before {@link #readAll} returns. Used once.
 */
final class ScanThreads {
    private final String name;
    private final List<Integer> segments;
    private final List<IntConsumer> readers;
    private final AtomicInteger next = new AtomicInteger();
    private @Nullable Throwable failure;

    /** @param readers one for each thread; each receives segments */
    ScanThreads(String name, List<Integer> segments, List<IntConsumer> readers) {
        this.name = name;
        this.segments = segments;
        this.readers = readers;
    }

    /** Rethrows the first reader's failure; then nothing that was read may be used. */
    void readAll() {
        final List<Thread> others = new ArrayList<>();
        try {
            for (int i = 1; i < readers.size(); i++) {
                final IntConsumer reader = readers.get(i);
                final Thread thread = DetachedThread.of(() -> read(reader), name + "-" + i);
                thread.start();
                others.add(thread);
            }
            read(readers.get(0));
        } finally {
            others.forEach(FileThread::join);
        }
        rethrow();
    }

    private void read(IntConsumer reader) {
        try {
            for (int i = next.getAndIncrement(); i < segments.size(); i = next.getAndIncrement()) {
                reader.accept(segments.get(i));
            }
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    private synchronized void failed(Throwable newFailure) {
        next.set(segments.size()); // the others stop
        if (failure == null) {
            failure = newFailure;
        } else {
            failure.addSuppressed(newFailure);
        }
    }

    private synchronized void rethrow() {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }
}
