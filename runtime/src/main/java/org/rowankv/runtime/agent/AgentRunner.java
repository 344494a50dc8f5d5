package org.rowankv.runtime.agent;

import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.OwnedCounter;

/**
 * A daemon thread that turns one agent.
 *
 * <p>The thread of an agent that finds nothing to do parks, twice as long each time up to {@code maxParkNs}; at the default of
 * 10 ms an idle agent costs a fraction of a percent of a core. The first pause, half a millisecond, is what a busy agent waits
 * for its work to gather: looked for at once, it would be found in small pieces, for each of which a processor changes hands.
 * It is shorter where an answer is awaited ({@link Agent#awaitsAnswer}). {@link #wakeUp} ends the pause. No wake-up is
 * lost: the thread announces that it will park, then turns the agent once more, then parks; whoever made work before
 * calling wakeUp either sees the announcement or has its work seen by that turn. And if the agent
 * is in another thread's hands at that moment, this thread does not rest on that turn but looks again soon.
 *
 * <p>An agent that says that it can rest ({@link Agent#restNs}) is turned about as rarely as that, until it finds work again.
 *
 * <p>Any thread may turn the agent for a while with {@link #tryInvoke}, so that a thread that waits for its work need
 * not wait for the scheduler. Interrupting the runner's thread does nothing; {@link #close} ends it.
 */
public final class AgentRunner implements TurnedAgent {
    /** Longest pause of an idle agent. */
    public static final long DEFAULT_MAX_PARK_NS = 10_000_000;

    private static final long FIRST_PARK_NS = 500_000;
    private static final long ANSWER_PARK_NS = 50_000;
    private static final long TAKEN_PARK_NS = 100_000;

    private final AgentTurn turn;
    private final ErrorLog errors;
    private final long maxParkNs;
    private final Thread thread;
    private volatile boolean parked;
    /** Parked, or about to be, for longer than an agent that did not say that it can rest. */
    private volatile boolean resting;

    private final OwnedCounter rests = new OwnedCounter();
    private volatile boolean closing;
    private long parkNs = FIRST_PARK_NS;

    public AgentRunner(Agent agent, ErrorLog errors) {
        this(agent, errors, DEFAULT_MAX_PARK_NS);
    }

    public AgentRunner(Agent agent, ErrorLog errors, long maxParkNs) {
        this.turn = new AgentTurn(agent, errors);
        this.errors = errors;
        this.maxParkNs = Math.max(FIRST_PARK_NS, maxParkNs);
        this.thread = new Thread(this::run, "rowan-" + agent.roleName());
        this.thread.setDaemon(true);
    }

    /** Starts the thread; the agent's onStart runs on it. */
    @Override
    public void start() {
        thread.start();
    }

    /** Called after making work for the agent. Costs a fence and a read while the thread is awake. */
    @Override
    public void wakeUp() {
        VarHandle.fullFence();
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    /** Turns the agent once on the caller's thread; returns whether that was possible and found work. */
    public boolean tryInvoke() {
        return turn.turn() > 0;
    }

    /** How many turns have ended: of two that end from now on, the second began after now. */
    @Override
    public long turns() {
        return turn.turns();
    }

    public Agent agent() {
        return turn.agent();
    }

    @Override
    public boolean isClosed() {
        return turn.isOver();
    }

    /**
     * Ends the thread, which closes the agent, and waits for it. An interrupt is kept for the caller. Not to be
     * called from inside a turn of the agent.
     */
    @Override
    public void close() {
        closing = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        for (; ; ) {
            try {
                thread.join(); // ends: a turn never blocks, and the loop looks at `closing` behind each
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        // If the thread was never started, nobody else will.
        closeAgent();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            turn.start();
        } catch (RuntimeException | Error e) {
            errors.broken(turn.agent().roleName() + " at its start", e);
        }
        while (!closing && !turn.isOver()) {
            final int work = turn.turn();
            if (work > 0) {
                parkNs = firstPauseNs();
            } else {
                park();
            }
        }
        // A stopped agent is closed by the thread that ran it, when that is asked for.
        while (!closing) {
            LockSupport.park(this);
            Thread.interrupted();
        }
        closeAgent();
    }

    private void closeAgent() {
        // Ends: a turn never blocks.
        while (!turn.tryClose()) {
            Thread.yield();
        }
    }

    private void park() {
        final long ns = Math.min(parkNs, longestPauseNs());
        resting = ns > maxParkNs;
        parked = true;
        // The announcement first, the last look second: see the class comment.
        final int work = turn.turn();
        if (work == 0 && !closing) {
            // Asked again: that turn may have found that it cannot rest.
            final long longestNs = longestPauseNs();
            if (ns > maxParkNs && longestNs >= ns) {
                rests.add(1);
            }
            LockSupport.parkNanos(this, Math.min(ns, longestNs));
            parkNs = Math.min(longestNs, ns * 2);
        } else if (work == AgentTurn.TAKEN) {
            LockSupport.parkNanos(this, TAKEN_PARK_NS);
        } else {
            parkNs = firstPauseNs();
        }
        parked = false;
        resting = false;
        // An interrupt would make every further park return at once.
        Thread.interrupted();
    }

    private long firstPauseNs() {
        return turn.agent().awaitsAnswer() ? ANSWER_PARK_NS : FIRST_PARK_NS;
    }

    private long longestPauseNs() {
        return Math.max(maxParkNs, turn.agent().restNs());
    }

    @Override
    public void rouse() {
        if (resting) {
            LockSupport.unpark(thread);
        }
    }

    @Override
    public long rests() {
        return rests.get();
    }
}
