package org.rowankv.check.client;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.runtime.SystemClock;

/**
 * Accumulated delay of this JVM's timers: a thread repeats a short wait and sums up the excess. It is the control
 * measurement for bounds on elapsed time: other threads may have been delayed as much as this one.
 */
final class TimerLag {
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private volatile long totalNs;

    /** Starts the measurement, until the process exits. */
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
            final long fromNs = SystemClock.INSTANCE.nanoTime();
            LockSupport.parkNanos(this, TICK_NS);
            sumNs += Math.max(0, SystemClock.INSTANCE.nanoTime() - fromNs - TICK_NS);
            totalNs = sumNs;
        }
    }

    /** Total delay; never decreases. */
    long totalNs() {
        return totalNs;
    }
}
