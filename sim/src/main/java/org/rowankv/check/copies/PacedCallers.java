package org.rowankv.check.copies;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SystemClock;

/**
 * Threads that get and put by turns, as fast as they can or at a rate. At a rate an operation's time counts from when it
 * was due, so that those behind a slow one count as slow too. Any thread may set the rate and read the counts.
 */
final class PacedCallers implements AutoCloseable {
    private static final long LONGEST_NS = TimeUnit.MINUTES.toNanos(2);
    private static final int DIGITS = 3;
    /** A caller this late skips what is overdue: the rate is not made up for. */
    private static final long FORGET_NS = TimeUnit.SECONDS.toNanos(1);

    private final RowanClient client;
    private final int cacheId;
    private final CopiedObjects objects;
    private final List<Thread> threads = new ArrayList<>();
    private final Recorder times = new Recorder(LONGEST_NS, DIGITS);
    private final AtomicLong operations = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private volatile String lastFailure = "";
    /** Nanoseconds between two operations of one thread; 0: none. */
    private volatile long paceNs;

    private volatile boolean over;

    PacedCallers(RowanClient client, int cacheId, CopiedObjects objects, int callers, RandomSource random) {
        this.client = client;
        this.cacheId = cacheId;
        this.objects = objects;
        for (int caller = 0; caller < callers; caller++) {
            final RandomSource own = random.fork("caller " + caller);
            final Thread thread = new Thread(() -> call(own), "copy-caller-" + caller);
            thread.setDaemon(true);
            threads.add(thread);
        }
        threads.forEach(Thread::start);
    }

    private void call(RandomSource random) {
        final byte[] value = objects.value(random);
        final Request request = new Request();
        long dueNs = SystemClock.INSTANCE.nanoTime();
        while (!over) {
            final long pause = paceNs;
            final long nowNs = SystemClock.INSTANCE.nanoTime();
            if (pause == 0 || nowNs - dueNs > FORGET_NS) {
                dueNs = nowNs;
            } else if (dueNs - nowNs > 0) {
                LockSupport.parkNanos(this, dueNs - nowNs);
                continue;
            }
            final byte[] key = objects.key(random.nextInt(objects.count()));
            if (random.nextInt(2) == 0) {
                request.get(cacheId, key, 0, key.length);
            } else {
                request.put(cacheId, key, 0, key.length, value, 0, value.length);
            }
            client.execute(request);
            if (request.status() != Status.OK) {
                lastFailure = request.operation() + ": " + request.status();
                failures.incrementAndGet();
            }
            operations.incrementAndGet();
            times.recordValue(Math.min(LONGEST_NS, SystemClock.INSTANCE.nanoTime() - dueNs));
            dueNs += pause;
        }
    }

    /** @param perSecond operations of all threads together; 0: as many as can be */
    void rate(double perSecond) {
        paceNs = perSecond == 0 ? 0 : (long) (threads.size() * TimeUnit.SECONDS.toNanos(1) / perSecond);
    }

    /** The times of the operations that completed since the last call, in nanoseconds. */
    Histogram takeTimes() {
        return times.getIntervalHistogram();
    }

    long operations() {
        return operations.get();
    }

    /** Operations that were not answered OK: every object is there. */
    long failures() {
        return failures.get();
    }

    /** The newest failure; empty if there is none. */
    String lastFailure() {
        return lastFailure;
    }

    /** Ends the threads; each ends its operation before. */
    @Override
    public void close() {
        over = true;
        for (Thread thread : threads) {
            LockSupport.unpark(thread);
        }
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
