package org.rowankv.jcache.integration;

import java.lang.ref.WeakReference;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads of one cache manager for loads and, others, for asynchronous listeners, so that neither waits for the other:
 * started when there is work, gone soon after there is none, and daemons. Work runs with the manager's class loader as its
 * thread's; between works they hold on to none.
 * Once closed, work is refused with a RejectedExecutionException. Thread-safe.
 */
public final class BackgroundThreads implements AutoCloseable {
    private static final long IDLE_MS = 200;

    private final WeakReference<ClassLoader> loader;
    private final ThreadPoolExecutor loads;
    private final ThreadPoolExecutor listeners;

    /** @param count how many threads there are at most, of each kind */
    public BackgroundThreads(int count, ClassLoader loader) {
        this.loader = new WeakReference<>(loader);
        this.loads = pool("rowan-jcache-load-", count);
        this.listeners = pool("rowan-jcache-listen-", count);
    }

    private static ThreadPoolExecutor pool(String prefix, int count) {
        final AtomicInteger number = new AtomicInteger();
        final ThreadPoolExecutor pool = new ThreadPoolExecutor(
                count, count, IDLE_MS, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), work -> {
                    final Thread thread = new Thread(null, work, prefix + number.incrementAndGet(), 0, false);
                    thread.setDaemon(true);
                    thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** What an application's code finds its resources by. */
    private Runnable inApplication(Runnable work) {
        return () -> {
            final Thread thread = Thread.currentThread();
            thread.setContextClassLoader(loader.get());
            try {
                work.run();
            } finally {
                thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
            }
        };
    }

    public Executor loads() {
        return work -> loads.execute(inApplication(work));
    }

    public Executor listeners() {
        return work -> listeners.execute(inApplication(work));
    }

    /** Lets the work under way and the work that waits end; waits for none of it. */
    @Override
    public void close() {
        loads.shutdown();
        listeners.shutdown();
    }
}
