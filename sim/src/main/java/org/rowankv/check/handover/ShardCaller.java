package org.rowankv.check.handover;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SystemClock;

/**
 * A thread that gets or puts one object, again and again, and keeps the longest time between two answers. Any thread may
 * tell it another key, and take what it has measured.
 */
final class ShardCaller implements AutoCloseable {
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(200);

    private final RowanClient client;
    private final int cacheId;
    private final boolean puts;
    private final Thread thread;
    private volatile byte[] key;
    private volatile boolean over;
    private long answeredNs;
    private long longestNs;
    private long failures;

    ShardCaller(RowanClient client, int cacheId, byte[] firstKey, boolean puts) {
        this.client = client;
        this.cacheId = cacheId;
        this.key = firstKey;
        this.puts = puts;
        this.answeredNs = SystemClock.INSTANCE.nanoTime();
        this.thread = new Thread(this::call, puts ? "handover-puts" : "handover-gets");
        thread.setDaemon(true);
        thread.start();
    }

    private void call() {
        final Request request = new Request();
        final byte[] value = new byte[Long.BYTES];
        while (!over) {
            final byte[] now = key;
            if (puts) {
                request.put(cacheId, now, 0, now.length, value, 0, value.length);
            } else {
                request.get(cacheId, now, 0, now.length);
            }
            client.execute(request);
            answered(request.status());
            LockSupport.parkNanos(this, PAUSE_NS);
        }
    }

    private synchronized void answered(Status status) {
        final long nowNs = SystemClock.INSTANCE.nanoTime();
        longestNs = Math.max(longestNs, nowNs - answeredNs);
        answeredNs = nowNs;
        failures += status == Status.OK ? 0 : 1;
    }

    /** From now on it calls another object. */
    void use(byte[] otherKey) {
        key = otherKey;
    }

    /** The longest time since the last call without an answer, which may go on; then it begins anew. */
    synchronized long takeLongestNs() {
        final long nowNs = SystemClock.INSTANCE.nanoTime();
        final long longest = Math.max(longestNs, nowNs - answeredNs);
        longestNs = 0;
        answeredNs = nowNs;
        return longest;
    }

    /** Operations that were not answered OK. */
    synchronized long failures() {
        return failures;
    }

    @Override
    public void close() {
        over = true;
        LockSupport.unpark(thread);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
