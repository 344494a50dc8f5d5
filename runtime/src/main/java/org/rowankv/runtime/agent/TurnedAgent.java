package org.rowankv.runtime.agent;

/** An agent in the hands of whoever turns it: a thread of its own, or a caller. For any thread. */
public interface TurnedAgent extends AutoCloseable {

    /** From now on it gets its turns. */
    void start();

    /** There is work for it. */
    void wakeUp();

    /**
     * There may be work for it that can wait for as long as a short pause: ends a rest beyond that. May be missed by an agent that
     * is just going to rest; then the end of its rest finds the work.
     */
    default void rouse() {}

    /** How many turns it has had, where that is counted. */
    default long turns() {
        return 0;
    }

    /** How often it went to rest for longer than a short pause, where that is counted. A rest takes two turns. */
    default long rests() {
        return 0;
    }

    /** Whether the agent was closed or stopped by a broken invariant. */
    boolean isClosed();

    /** Ends the agent, waiting for a turn in progress. Not to be called from inside one. */
    @Override
    void close();
}
