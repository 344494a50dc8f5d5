package org.rowankv.runtime;

/** An agent in the hands of whoever turns it: a thread of its own, or a caller. For any thread. */
public interface TurnedAgent extends AutoCloseable {

    /** From now on it gets its turns. */
    void start();

    /** There is work for it. */
    void wakeUp();

    /** Whether the agent was closed or stopped by a broken invariant. */
    boolean isClosed();

    /** Ends the agent, waiting for a turn in progress. Not to be called from inside one. */
    @Override
    void close();
}
