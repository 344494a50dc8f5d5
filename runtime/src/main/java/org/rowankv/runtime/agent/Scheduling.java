package org.rowankv.runtime.agent;

import org.rowankv.runtime.ErrorLog;

/**
 * Who turns agents, who carries work that waits, and what a thread does that waits for them: threads and the system in
 * production. For any thread.
 */
public interface Scheduling {

    /** Takes an agent on; it gets no turn before it is started. */
    TurnedAgent take(Agent agent, ErrorLog errors);

    /** The calling thread waits for agents or other callers, about that long. */
    void park(long ns);

    /**
     * Starts work that may wait, on a thread of its own.
     *
     * @param isDaemon whether the process may end before it
     */
    default StartedWork begin(String name, boolean isDaemon, Runnable work) {
        return new ThreadWork(name, isDaemon, work);
    }

    /**
     * Whether all that is turned here goes on one at a time, so that who waited in a monitor for an agent would wait for
     * ever: it does that agent's work itself.
     */
    default boolean isOneAtATime() {
        return false;
    }

    /** For work that waits for somebody. */
    default Signal signal() {
        return new ThreadSignal();
    }
}
