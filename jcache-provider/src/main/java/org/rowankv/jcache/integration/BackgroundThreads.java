package org.rowankv.jcache.integration;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads of one cache manager for loads and asynchronous listeners: started when there is work, gone soon after there
 * is none, and daemons. They hold on to no application's class loader. Thread-safe.
 */
public final class BackgroundThreads implements Executor, AutoCloseable {
    private static final long IDLE_MS = 200;

    private final ThreadPoolExecutor pool;

    /** @param count how many threads there are at most */
    public BackgroundThreads(int count) {
        final AtomicInteger number = new AtomicInteger();
        pool = new ThreadPoolExecutor(
                count, count, IDLE_MS, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), work -> {
                    final Thread thread = new Thread(null, work, "rowan-jcache-" + number.incrementAndGet(), 0, false);
                    thread.setDaemon(true);
                    thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
    }

    /** Runs the work on one of the threads; throws RejectedExecutionException once closed. */
    @Override
    public void execute(Runnable work) {
        pool.execute(work);
    }

    /** Lets the work under way and the work that waits end; waits for none of it. */
    @Override
    public void close() {
        pool.shutdown();
    }
}
