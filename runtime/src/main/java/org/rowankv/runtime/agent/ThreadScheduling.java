package org.rowankv.runtime.agent;

import java.util.concurrent.locks.LockSupport;
import org.rowankv.runtime.ErrorLog;

/** Scheduling with one thread per agent. */
public enum ThreadScheduling implements Scheduling {
    INSTANCE;

    @Override
    public AgentHandle take(Agent agent, ErrorLog errors) {
        return new AgentRunner(agent, errors);
    }

    @Override
    public void park(long ns) {
        LockSupport.parkNanos(ns);
    }
}
