package org.rowankv.jcache.integration;

import java.lang.ref.WeakReference;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.rowankv.runtime.concurrent.DetachedThread;

/**
 * Daemon threads of one cache manager: one pool for loads and one for asynchronous listeners, so that neither delays
 * the other. Threads exist only while there is work. Tasks run with the manager's class loader as context class loader;
 * idle threads reference none. After close, tasks are rejected with a RejectedExecutionException. Thread-safe.
 */
public final class BackgroundThreads implements AutoCloseable {
    private static final long IDLE_MS = 200;

    private final WeakReference<ClassLoader> loader;
    private final ThreadPoolExecutor loads;
    private final ThreadPoolExecutor listeners;

    /** @param count limit of threads, per pool */
    public BackgroundThreads(int count, ClassLoader loader) {
        this.loader = new WeakReference<>(loader);
        this.loads = pool("rowan-jcache-load-", count);
        this.listeners = pool("rowan-jcache-listen-", count);
    }

    private static ThreadPoolExecutor pool(String prefix, int count) {
        final AtomicInteger number = new AtomicInteger();
        final ThreadPoolExecutor pool = new ThreadPoolExecutor(
                count,
                count,
                IDLE_MS,
                TimeUnit.MILLISECONDS,
                new LinkedBlockingQueue<>(),
                task -> DetachedThread.of(task, prefix + number.incrementAndGet()));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Sets the context class loader, by which application code finds resources. */
    private Runnable inApplication(Runnable task) {
        return () -> {
            final Thread thread = Thread.currentThread();
            thread.setContextClassLoader(loader.get());
            try {
                task.run();
            } finally {
                thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
            }
        };
    }

    public Executor loads() {
        return task -> loads.execute(inApplication(task));
    }

    public Executor listeners() {
        return task -> listeners.execute(inApplication(task));
    }

    /** Completes running and queued tasks; does not wait for them. */
    @Override
    public void close() {
        loads.shutdown();
        listeners.shutdown();
    }
}
