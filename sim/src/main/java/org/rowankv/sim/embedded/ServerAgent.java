package org.rowankv.sim.embedded;

import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.sim.AgentTask;

/** An agent of a store. */
final class ServerAgent extends AgentTask {
    private final EmbeddedSimulation simulation;
    private long pausedUntilNs;

    ServerAgent(EmbeddedSimulation simulation, Agent agent, ErrorLog errors, int forceNs, RandomSource device) {
        super(simulation, agent, errors, forceNs, device);
        this.simulation = simulation;
    }

    /** Stalls it for so long. */
    void pause(long ns) {
        pausedUntilNs = simulation.timeline().nowNs() + ns;
    }

    @Override
    protected long pausedUntilNs() {
        return pausedUntilNs;
    }
}
