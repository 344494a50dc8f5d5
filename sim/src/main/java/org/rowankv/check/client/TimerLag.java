package org.rowankv.check.client;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How late a timer of this JVM is, in all: a thread waits for a short time again and again, and adds up by how much each wait was
 * longer. The measured control for bounds on elapsed time: what this thread had to wait, others may have had to wait too.
 */
final class TimerLag {
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private volatile long totalNs;

    /** Starts to measure, to the end of the process. */
    static TimerLag start() {
        final TimerLag lag = new TimerLag();
        final Thread thread = new Thread(lag::measure, "timer-lag");
        thread.setDaemon(true);
        thread.start();
        return lag;
    }

    private void measure() {
        long sumNs = 0;
        while (true) {
            final long fromNs = System.nanoTime();
            LockSupport.parkNanos(this, TICK_NS);
            sumNs += Math.max(0, System.nanoTime() - fromNs - TICK_NS);
            totalNs = sumNs;
        }
    }

    /** Only grows. */
    long totalNs() {
        return totalNs;
    }
}
