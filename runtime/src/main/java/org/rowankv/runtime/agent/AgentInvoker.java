package org.rowankv.runtime.agent;

import org.rowankv.runtime.ErrorLog;

/**
 * Runner that runs an agent on its callers' threads ({@link ThreadingMode#INVOKED}).
 *
 * <p>Safe for any thread: a caller either gets the agent for one duty cycle or returns at once.
 */
public final class AgentInvoker implements AgentHandle {
    private final DutyCycle turn;

    public AgentInvoker(Agent agent, ErrorLog errors) {
        this.turn = new DutyCycle(agent, errors);
    }

    /** Calls the agent's onStart; further calls have no effect. */
    @Override
    public void start() {
        turn.start();
    }

    /**
     * Runs one duty cycle. Returns the work done; 0 if there was none, another thread runs the agent, it failed, or it
     * has ended.
     */
    public int tryInvoke() {
        return Math.max(0, turn.turn());
    }

    public Agent agent() {
        return turn.agent();
    }

    @Override
    public void wakeUp() {
        // No thread to wake: callers poll.
    }

    @Override
    public boolean isClosed() {
        return turn.isOver();
    }

    @Override
    public void close() {
        // Terminates: a duty cycle never blocks.
        while (!turn.tryClose()) {
            Thread.yield();
        }
    }
}
