package org.rowankv.runtime;

/** Who turns agents, and what a thread does that waits for them: threads and the system in production. For any thread. */
public interface Scheduling {

    /** Takes an agent on; it gets no turn before it is started. */
    TurnedAgent take(Agent agent, ErrorLog errors);

    /** The calling thread waits for agents or other callers, about that long. */
    void park(long ns);
}
