package org.rowankv.sim.cluster;

import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.sim.AgentTask;

/** An agent of a process. */
final class ProcessAgent extends AgentTask implements OfProcess {
    private final ClusterSimulation simulation;
    private final SimProcess process;

    ProcessAgent(ClusterSimulation simulation, SimProcess process, Agent agent, ErrorLog errors, RandomSource device) {
        super(simulation, agent, errors, simulation.clusterPlan().forceNs(), device);
        this.simulation = simulation;
        this.process = process;
    }

    @Override
    public SimProcess process() {
        return process;
    }

    @Override
    public boolean isDead() {
        return process.isDead();
    }

    @Override
    protected long pausedUntilNs() {
        return process.pausedUntilNs();
    }

    /** After its step, if it is in one. */
    @Override
    public void close() {
        while (isOnStack()) {
            Fiber.required().rest(simulation.timeline().nowNs() + 10_000);
        }
        super.close();
    }

    @Override
    public String toString() {
        return super.toString() + " of " + process;
    }
}
