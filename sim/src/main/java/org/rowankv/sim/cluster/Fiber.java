package org.rowankv.sim.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.agent.StartedWork;
import org.rowankv.sim.CrashError;
import org.rowankv.sim.SimThread;

/**
 * Work that waits in the middle of what it does. It has a thread, but that runs only while the simulation's own thread has
 * handed it the turn and stands still: there is never more than one that runs, and the scheduler says which.
 *
 * <p>When its process ends it is taken out of wherever it waits by an error.
 */
final class Fiber extends Turned implements StartedWork {
    /** Longer than any turn: whoever does not come back waits for something that no turn of others will bring. */
    private static final long LOST_AFTER_S = 120;

    /** Knows whose it is. */
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
    private final Semaphore turn = new Semaphore(0);
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

    /** The one whose thread this is, or null. */
    static @Nullable Fiber current() {
        return Thread.currentThread() instanceof Body own ? own.fiber : null;
    }

    // --- on its own thread ---

    private void run() {
        try {
            requireAlive();
            work.run();
        } catch (CrashError e) {
            // It ends here, as it should.
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

    /** Others go on until that time, or until somebody wakes it up. */
    void rest(long untilNs) {
        requireAlive();
        readyAtNs = untilNs;
        back.release();
        turn.acquireUninterruptibly();
        requireAlive();
    }

    /** Whether it was interrupted since it was asked last. */
    boolean takeInterrupt() {
        final boolean was = interrupted;
        interrupted = false;
        return was;
    }

    // --- on the simulation's thread, or another fiber's ---

    void wakeUp() {
        readyAtNs = 0;
        simulation.turns().changed(this);
    }

    @Override
    long readyAtNs() {
        final SimProcess own = process();
        return over ? NEVER : own == null ? readyAtNs : Math.max(readyAtNs, own.pausedUntilNs());
    }

    @Override
    boolean isGone() {
        return over;
    }

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    void step() {
        if (started) {
            turn.release();
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
                throw new AssertionError(
                        name + " does not come back: it is at " + Arrays.toString(body.getStackTrace()));
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

    /** The one whose thread this is: what waits is on none but these. */
    static Fiber required() {
        final Fiber own = current();
        if (own == null) {
            throw new AssertionError("only a fiber can wait");
        }
        return own;
    }

    /** For people: where it waits. */
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
