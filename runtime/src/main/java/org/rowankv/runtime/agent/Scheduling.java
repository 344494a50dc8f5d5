package org.rowankv.runtime.agent;

import org.rowankv.runtime.ErrorLog;

/**
 * The strategy that runs agents and blocking work, and that parks waiting threads: OS threads in production. Safe for
 * any thread.
 */
public interface Scheduling {

    /** Registers an agent; it does not run before it is started. */
    AgentHandle take(Agent agent, ErrorLog errors);

    /** Parks the calling thread for about this long while it waits for agents or other callers. */
    void park(long ns);

    /**
     * Starts work that may block, on its own thread.
     *
     * @param isDaemon whether the process may exit before the work ends
     */
    default RunningTask begin(String name, boolean isDaemon, Runnable work) {
        return new ThreadTask(name, isDaemon, work);
    }

    /**
     * Whether all work here runs one piece at a time. Then a thread that waited in a monitor for an agent would wait
     * for ever. It must run that agent's duty cycle itself.
     */
    default boolean isOneAtATime() {
        return false;
    }

    /** Creates a signal for blocking work. */
    default Signal signal() {
        return new ThreadSignal();
    }
}
