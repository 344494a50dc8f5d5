package org.rowankv.runtime.agent;

import org.rowankv.runtime.ErrorLog;

/**
 * Runner that runs an agent on its callers' threads ({@link ThreadingMode#INVOKED}).
 *
 * <p>Safe for any thread: a caller either gets the agent for one duty cycle or returns at once.
 */
public final class AgentInvoker implements AgentHandle {
    private final DutyCycle cycle;

    public AgentInvoker(Agent agent, ErrorLog errors) {
        this.cycle = new DutyCycle(agent, errors);
    }

    /** Calls the agent's onStart; further calls have no effect. */
    @Override
    public void start() {
        cycle.start();
    }

    /**
     * Runs one duty cycle. Returns the work done; 0 if there was none, another thread runs the agent, it failed, or it
     * has ended.
     */
    public int tryInvoke() {
        return Math.max(0, cycle.runOnce());
    }

    public Agent agent() {
        return cycle.agent();
    }

    @Override
    public void wakeUp() {
        // No thread to wake: callers poll.
    }

    @Override
    public boolean isClosed() {
        return cycle.isOver();
    }

    @Override
    public void close() {
        // Terminates: a duty cycle never blocks.
        while (!cycle.tryClose()) {
            Thread.yield();
        }
    }
}
