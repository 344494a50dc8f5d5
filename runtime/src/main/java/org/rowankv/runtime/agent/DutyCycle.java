package org.rowankv.runtime.agent;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.FailureRun;

/**
 * The exclusive right to run one agent's duty cycle, acquired by compare-and-set, never by waiting. {@link
 * AgentInvoker} and {@link AgentRunner} share it: a waiting thread can help an agent that has its own thread.
 *
 * <p>A failure that an agent throws is reported, and the agent continues with its next duty cycle. A broken invariant
 * stops the agent: it may have written invalid state that the next cycle would use. Broken invariants are: an {@link
 * AssertionError}; a {@link FailureRun} that reached its limit; every other {@link Error}, because lack of memory or
 * stack cuts a step off between any two instructions. The {@link ErrorLog} passes it on. Closing a stopped agent still
 * calls its onClose, so that it releases its resources.
 *
 * <p>Safe for any thread. A nested attempt from inside the same agent's duty cycle finds the right taken.
 */
final class DutyCycle {
    /** Result of {@link #runOnce} when another thread runs the agent. */
    static final int TAKEN = -1;
    /** Result of {@link #runOnce} when the agent is stopped or closed. */
    static final int ENDED = -2;

    private static final int NEW = 0;
    private static final int FREE = 1;
    private static final int TURNING = 2;
    private static final int STOPPED = 3;
    private static final int CLOSED = 4;

    private final Agent agent;
    private final ErrorLog errors;
    private final AtomicInteger state = new AtomicInteger(NEW);
    private final AtomicLong cycles = new AtomicLong();
    private final FailureRun run = new FailureRun();

    DutyCycle(Agent agent, ErrorLog errors) {
        this.agent = agent;
        this.errors = errors;
    }

    Agent agent() {
        return agent;
    }

    boolean isOver() {
        return state.get() >= STOPPED;
    }

    /** Starts the agent if it has not started. A failed start stops the agent and is rethrown. */
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

    /** Runs one duty cycle; returns the work done, TAKEN or ENDED. */
    int runOnce() {
        final int found = state.get();
        if (found != FREE || !state.compareAndSet(FREE, TURNING)) {
            return found >= STOPPED ? ENDED : TAKEN;
        }
        int next = STOPPED; // Stays STOPPED even if reporting the failure fails.
        try {
            final int work = agent.doWork();
            run.completed(work);
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
            cycles.setRelease(cycles.getPlain() + 1); // single writer at a time
            state.set(next);
        }
    }

    /** Number of completed duty cycles. */
    long cycles() {
        return cycles.get();
    }

    /** Closes the agent; calls its onClose once, if it was started. Returns false while another thread runs it. */
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
