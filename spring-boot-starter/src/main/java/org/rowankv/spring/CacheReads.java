package org.rowankv.spring;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.concurrent.DetachedThread;

/**
 * Where caches are read for methods that return futures or reactive types, whose callers must not wait. Threads end after
 * a minute without reads. Thread-safe.
 */
final class CacheReads implements Executor, AutoCloseable {
    private static final int THREADS = 16;
    private static final long IDLE_S = 60;

    /** Null: the caller's thread. */
    private final @Nullable ThreadPoolExecutor threads;

    private CacheReads(@Nullable ThreadPoolExecutor threads) {
        this.threads = threads;
    }

    static CacheReads ofTheCaller() {
        return new CacheReads(null);
    }

    static CacheReads inThreads() {
        final AtomicInteger number = new AtomicInteger();
        final ThreadPoolExecutor threads = new ThreadPoolExecutor(
                THREADS,
                THREADS,
                IDLE_S,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                task -> DetachedThread.of(task, "rowan-cache-reads-" + number.incrementAndGet()));
        threads.allowCoreThreadTimeOut(true);
        return new CacheReads(threads);
    }

    @Override
    public void execute(Runnable read) {
        if (threads == null) {
            read.run();
        } else {
            threads.execute(read);
        }
    }

    @Override
    public void close() {
        if (threads != null) {
            threads.shutdown();
        }
    }
}
