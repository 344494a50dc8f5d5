package org.rowankv.sim.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.agent.RunningTask;
import org.rowankv.sim.CrashError;
import org.rowankv.sim.SimThread;

/**
 * A task that can wait in the middle of its work. It has a thread, which runs only while the simulation's own thread
 * has handed control to it and waits: at most one of them runs, chosen by the scheduler.
 *
 * <p>When its process ends, an error unwinds it wherever it waits.
 */
final class Fiber extends ProcessTask implements RunningTask {
    /** Longer than any step: a fiber that does not return waits for an event that no other task will cause. */
    private static final long LOST_AFTER_S =
            600; // of real time: on a busy machine a woken thread may wait for a minute

    /** A thread with a reference to its fiber. */
    private static final class Body extends SimThread {
        private final Fiber fiber;

        Body(Fiber fiber, String name) {
            super(fiber::run, name);
            this.fiber = fiber;
        }
    }

    private final ClusterSimulation simulation;
    private final Runnable work;
    private final String name;
    private final Body body;
    private final Semaphore permit = new Semaphore(0);
    private final Semaphore back = new Semaphore(0);
    private final List<Fiber> joining = new ArrayList<>();
    private long readyAtNs;
    private boolean started;
    private boolean over;
    private boolean interrupted;
    private @Nullable Throwable failure;

    Fiber(ClusterSimulation simulation, @Nullable SimProcess process, String name, Runnable work) {
        super(process);
        this.simulation = simulation;
        this.work = work;
        this.name = name;
        this.body = new Body(this, name);
        body.setDaemon(true);
        body.tells(simulation.points()::onPoint);
    }

    /** The fiber of the current thread, or null. */
    static @Nullable Fiber current() {
        return Thread.currentThread() instanceof Body own ? own.fiber : null;
    }

    // --- on its own thread ---

    private void run() {
        try {
            requireAlive();
            work.run();
        } catch (CrashError e) {
            // It ends here, as intended.
        } catch (RuntimeException | Error e) {
            failure = e;
        } finally {
            over = true;
            joining.forEach(Fiber::wakeUp);
            back.release();
        }
    }

    private void requireAlive() {
        if (isDead() || simulation.isOver()) {
            throw new CrashError();
        }
    }

    /** Other tasks run until that time, or until it is woken up. */
    void rest(long untilNs) {
        requireAlive();
        readyAtNs = untilNs;
        back.release();
        permit.acquireUninterruptibly();
        requireAlive();
    }

    /** Whether it was interrupted since the last call. */
    boolean takeInterrupt() {
        final boolean was = interrupted;
        interrupted = false;
        return was;
    }

    // --- on the simulation's thread, or another fiber's ---

    void wakeUp() {
        readyAtNs = 0;
        simulation.scheduler().changed(this);
    }

    @Override
    public long readyAtNs() {
        final SimProcess own = process();
        return over ? NEVER : own == null ? readyAtNs : Math.max(readyAtNs, own.pausedUntilNs());
    }

    @Override
    public boolean isGone() {
        return over;
    }

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public void step() {
        if (started) {
            permit.release();
        } else {
            started = true;
            body.start();
        }
        awaitBack();
        final Throwable thrown = failure;
        failure = null;
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown instanceof RuntimeException exception) {
            throw exception;
        }
    }

    private void awaitBack() {
        try {
            if (!back.tryAcquire(LOST_AFTER_S, TimeUnit.SECONDS)) {
                throw new AssertionError(name + " does not return: it is at " + Arrays.toString(body.getStackTrace()));
            }
        } catch (InterruptedException e) {
            throw new AssertionError("a simulation was interrupted", e);
        }
    }

    @Override
    public void join() {
        final Fiber waiting = required();
        while (!over) {
            joining.add(waiting);
            waiting.rest(NEVER);
        }
    }

    @Override
    public void interrupt() {
        interrupted = true;
        wakeUp();
    }

    /** The fiber of the current thread: only fibers may wait. */
    static Fiber required() {
        final Fiber own = current();
        if (own == null) {
            throw new AssertionError("only a fiber can wait");
        }
        return own;
    }

    /** Human-readable position of its wait. */
    String where() {
        return name + " at "
                + Arrays.stream(body.getStackTrace())
                        .filter(frame -> frame.getClassName().startsWith("org.rowankv."))
                        .limit(8)
                        .map(StackTraceElement::toString)
                        .toList();
    }

    @Override
    public String toString() {
        return name;
    }
}
