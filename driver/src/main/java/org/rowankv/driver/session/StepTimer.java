package org.rowankv.driver.session;

import java.util.PriorityQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.concurrent.DetachedThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Timer that runs steps one at a time, on a thread that exists while steps are scheduled and a little longer. A step
 * must not block. Thread-safe.
 */
public final class StepTimer {
    private static final Logger LOG = LoggerFactory.getLogger(StepTimer.class);
    /** Bounds waits because the clock may differ from the clock of thread waits. */
    private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final long LINGER_NS = TimeUnit.SECONDS.toNanos(2);

    /** @param number order of steps with equal time */
    private record Step(long atNs, long number, Runnable action) implements Comparable<Step> {
        @Override
        public int compareTo(Step other) {
            final int byTime = Long.signum(atNs - other.atNs);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    private final Clock clock;
    private final ThreadFactory threads;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // --- guarded by the lock ---
    private final PriorityQueue<Step> steps = new PriorityQueue<>();
    private @Nullable Thread thread;
    private long lastNumber;
    private boolean hurries;

    public StepTimer(Clock clock) {
        this(clock, task -> DetachedThread.of(task, "rowan-client-timer"));
    }

    public StepTimer(Clock clock, ThreadFactory threads) {
        this.clock = clock;
        this.threads = threads;
    }

    /** Runs the action at that time, or soon if it has passed. */
    public void at(long atNs, Runnable action) {
        lock.lock();
        try {
            if (thread == null) {
                final Thread created = threads.newThread(this::run);
                created.setDaemon(true);
                created.start();
                thread = created; // after start(), which may fail for lack of threads
            }
            steps.add(new Step(atNs, ++lastNumber, action));
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Makes all steps due from now on. */
    public void hurry() {
        lock.lock();
        try {
            hurries = true;
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        for (Runnable due = awaitDue(); due != null; due = awaitDue()) {
            try {
                due.run();
            } catch (RuntimeException | Error e) {
                LOG.error("ROWAN-1007 Client timer step failed; the others continue", e);
            }
        }
    }

    /** The next due step; null after an idle period, which ends the thread. */
    private @Nullable Runnable awaitDue() {
        lock.lock();
        try {
            boolean lingered = false;
            while (true) {
                final Step first = steps.peek();
                if (first == null && lingered) {
                    thread = null;
                    return null;
                }
                final long leftNs = first == null ? LINGER_NS : Math.min(SLICE_NS, first.atNs() - clock.nanoTime());
                if (first != null && (hurries || leftNs <= 0)) {
                    steps.poll();
                    return first.action();
                }
                try {
                    lingered = changed.awaitNanos(leftNs) <= 0;
                } catch (InterruptedException e) {
                    lingered = false; // interrupts of this thread have no meaning
                }
            }
        } finally {
            lock.unlock();
        }
    }
}
