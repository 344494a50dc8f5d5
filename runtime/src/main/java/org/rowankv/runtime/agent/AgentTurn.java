package org.rowankv.runtime.agent;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.FailureRun;

/**
 * The right to turn one agent, taken by compare-and-set and never waited for. Shared by {@link AgentInvoker} and {@link
 * AgentRunner}, so that a waiting thread may help an agent that has a thread of its own.
 *
 * <p>An agent that throws is reported and goes on with its next turn. A broken invariant stops the agent: it may have written
 * what it must not, and the next turn would build on it. That is an {@link AssertionError}; a {@link FailureRun} that is too
 * long; and every other {@link Error}, since lack of memory or stack cuts a step off between any two instructions. The
 * {@link ErrorLog} hands it on. The agent's onClose is still called when it is closed, so that it lets go of what it holds.
 *
 * <p>Safe for any thread. A turn begun inside a turn of the same agent finds it taken.
 */
final class AgentTurn {
    /** Returned by {@link #turn} when another thread has the agent. */
    static final int TAKEN = -1;
    /** Returned by {@link #turn} when the agent was stopped or closed. */
    static final int ENDED = -2;

    private static final int NEW = 0;
    private static final int FREE = 1;
    private static final int TURNING = 2;
    private static final int STOPPED = 3;
    private static final int CLOSED = 4;

    private final Agent agent;
    private final ErrorLog errors;
    private final AtomicInteger state = new AtomicInteger(NEW);
    private final AtomicLong turns = new AtomicLong();
    private final FailureRun run = new FailureRun();

    AgentTurn(Agent agent, ErrorLog errors) {
        this.agent = agent;
        this.errors = errors;
    }

    Agent agent() {
        return agent;
    }

    boolean isOver() {
        return state.get() >= STOPPED;
    }

    /**
     * Starts the agent if that has not happened. If its start fails the agent is stopped, and the failure thrown on.
     */
    void start() {
        if (!state.compareAndSet(NEW, TURNING)) {
            return;
        }
        int next = STOPPED;
        try {
            agent.onStart();
            next = FREE;
        } finally {
            state.set(next);
        }
    }

    /** One turn: the work done, TAKEN or ENDED. */
    int turn() {
        final int found = state.get();
        if (found != FREE || !state.compareAndSet(FREE, TURNING)) {
            return found >= STOPPED ? ENDED : TAKEN;
        }
        int next = STOPPED; // also if it cannot be reported
        try {
            final int work = agent.doWork();
            run.turned(work);
            next = FREE;
            return work;
        } catch (RuntimeException | Error e) {
            final Throwable failure = run.failed(agent.roleName(), e);
            if (failure instanceof Error) {
                errors.broken(agent.roleName(), failure);
                return ENDED;
            }
            errors.report(agent.roleName(), failure);
            next = FREE;
            return 0;
        } finally {
            turns.setRelease(turns.getPlain() + 1); // one thread at a time
            state.set(next);
        }
    }

    /** How many turns have ended. */
    long turns() {
        return turns.get();
    }

    /** Closes the agent; calls its onClose once, if it was started. Returns false when another thread is turning it. */
    boolean tryClose() {
        for (; ; ) {
            final int found = state.get();
            if (found == TURNING || found == CLOSED) {
                return found == CLOSED;
            }
            if (state.compareAndSet(found, CLOSED)) {
                if (found != NEW) {
                    closeAgent();
                }
                return true;
            }
        }
    }

    private void closeAgent() {
        try {
            agent.onClose();
        } catch (RuntimeException | Error e) {
            errors.report(agent.roleName() + " at its end", e);
        }
    }
}
