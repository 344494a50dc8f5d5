package org.rowankv.runtime.agent;

/** Handle of an agent for the thread that runs it: its own thread or a caller's. Safe for any thread. */
public interface AgentHandle extends AutoCloseable {

    /** Starts the agent's duty cycles. */
    void start();

    /** Wakes the agent because it has work. */
    void wakeUp();

    /**
     * Ends an idle pause longer than the usual short one, for work that can wait for a short pause. An agent that is
     * just about to idle may miss it; the end of its idle time then finds the work.
     */
    default void endLongPause() {}

    /** Number of duty cycles, if counted. */
    default long cycles() {
        return 0;
    }

    /** Number of idle pauses longer than a short one, if counted. Each takes two duty cycles. */
    default long longPauses() {
        return 0;
    }

    /** Whether the agent is closed, or was stopped by a broken invariant. */
    boolean isClosed();

    /** Ends the agent after the duty cycle in progress. Must not be called from inside one. */
    @Override
    void close();
}
