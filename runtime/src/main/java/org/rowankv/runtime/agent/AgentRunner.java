package org.rowankv.runtime.agent;

import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.concurrent.DetachedThread;

/**
 * A daemon thread that runs the duty cycle of one agent.
 *
 * <p>When idle, the thread parks, doubling each pause up to {@code maxParkNs}; at the default of 10 ms an idle agent
 * costs a fraction of a percent of a core. The first pause, half a millisecond, lets a busy agent's work accumulate:
 * immediate polling would find it in small pieces, each with a context switch. The pause is shorter while a reply is
 * expected ({@link Agent#awaitsAnswer}). {@link #wakeUp} ends it.
 *
 * <p>No wake-up is lost: the thread announces that it will park, runs the duty cycle once more, then parks. A producer
 * that publishes work before wakeUp either sees the announcement, or that last cycle sees its work. If another thread
 * runs the agent at that moment, this thread polls again soon instead of relying on that cycle.
 *
 * <p>An agent that permits a longer idle time ({@link Agent#idleNs}) runs about that rarely until it finds work again.
 *
 * <p>Any thread may run the agent with {@link #tryInvoke}. So a thread that waits for its work does not depend on the
 * OS scheduler. Interrupting the runner's thread has no effect; {@link #close} ends it.
 */
public final class AgentRunner implements AgentHandle {
    /** Longest pause of an idle agent. */
    public static final long DEFAULT_MAX_PARK_NS = 10_000_000;

    private static final long FIRST_PARK_NS = 500_000;
    private static final long ANSWER_PARK_NS = 50_000;
    private static final long TAKEN_PARK_NS = 100_000;

    private final DutyCycle cycle;
    private final ErrorLog errors;
    private final long maxParkNs;
    private final Thread thread;
    private volatile boolean parked;
    /** True while parked, or about to park, longer than an agent without a {@code idleNs} would. */
    private volatile boolean inLongPause;

    private final OwnedCounter longPauses = new OwnedCounter();
    private volatile boolean closing;
    private long parkNs = FIRST_PARK_NS;

    public AgentRunner(Agent agent, ErrorLog errors) {
        this(agent, errors, DEFAULT_MAX_PARK_NS);
    }

    public AgentRunner(Agent agent, ErrorLog errors, long maxParkNs) {
        this.cycle = new DutyCycle(agent, errors);
        this.errors = errors;
        this.maxParkNs = Math.max(FIRST_PARK_NS, maxParkNs);
        this.thread = DetachedThread.of(this::run, "rowan-" + agent.roleName());
    }

    /** Starts the thread; the agent's onStart runs on it. */
    @Override
    public void start() {
        thread.start();
    }

    /** Wakes the agent; call after publishing work for it. Costs a fence and a read while the thread is awake. */
    @Override
    public void wakeUp() {
        VarHandle.fullFence();
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    /** Runs one duty cycle on the caller's thread; returns whether that was possible and found work. */
    public boolean tryInvoke() {
        return cycle.runOnce() > 0;
    }

    /** Number of completed duty cycles. Of two cycles that complete from now on, the second began after now. */
    @Override
    public long cycles() {
        return cycle.cycles();
    }

    @Override
    public boolean isClosed() {
        return cycle.isOver();
    }

    /**
     * Ends the thread, which closes the agent, and waits for it. An interrupt stays set for the caller. Must not be
     * called from inside the agent's duty cycle.
     */
    @Override
    public void close() {
        closing = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        for (; ; ) {
            try {
                thread.join(); // Terminates: a duty cycle never blocks, and the loop checks `closing` after each.
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        // The thread never started, so the agent is closed here.
        closeAgent();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            cycle.start();
        } catch (RuntimeException | Error e) {
            errors.broken(cycle.agent().roleName() + " at its start", e);
        }
        while (!closing && !cycle.isOver()) {
            final int work = cycle.runOnce();
            if (work > 0) {
                parkNs = firstPauseNs();
            } else {
                park();
            }
        }
        // The thread that ran a stopped agent closes it, on request.
        while (!closing) {
            LockSupport.park(this);
            Thread.interrupted();
        }
        closeAgent();
    }

    private void closeAgent() {
        // Terminates: a duty cycle never blocks.
        while (!cycle.tryClose()) {
            Thread.yield();
        }
    }

    private void park() {
        final long ns = Math.min(parkNs, longestPauseNs());
        inLongPause = ns > maxParkNs;
        parked = true;
        // Announce first, poll second: see the class comment.
        final int work = cycle.runOnce();
        if (work == 0 && !closing) {
            // Read again: that cycle may have ended the permission to idle.
            final long longestNs = longestPauseNs();
            if (ns > maxParkNs && longestNs >= ns) {
                longPauses.add(1);
            }
            LockSupport.parkNanos(this, Math.min(ns, longestNs));
            parkNs = Math.min(longestNs, ns * 2);
        } else if (work == DutyCycle.TAKEN) {
            LockSupport.parkNanos(this, TAKEN_PARK_NS);
        } else {
            parkNs = firstPauseNs();
        }
        parked = false;
        inLongPause = false;
        // An interrupt would make every further park return at once.
        Thread.interrupted();
    }

    private long firstPauseNs() {
        return cycle.agent().awaitsAnswer() ? ANSWER_PARK_NS : FIRST_PARK_NS;
    }

    private long longestPauseNs() {
        return Math.max(maxParkNs, cycle.agent().idleNs());
    }

    @Override
    public void endLongPause() {
        if (inLongPause) {
            LockSupport.unpark(thread);
        }
    }

    @Override
    public long longPauses() {
        return longPauses.get();
    }
}
