package org.rowankv.sim.cluster;

import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.RunningTask;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.Signal;

/** Scheduling of the agents and the work of one process. */
final class ProcessScheduling implements Scheduling {
    private final ClusterSimulation simulation;
    private final SimProcess process;
    private final RandomSource device;

    ProcessScheduling(ClusterSimulation simulation, SimProcess process, RandomSource device) {
        this.simulation = simulation;
        this.process = process;
        this.device = device;
    }

    @Override
    public AgentHandle take(Agent agent, ErrorLog errors) {
        final ProcessAgent task = new ProcessAgent(simulation, process, agent, errors, device);
        simulation.scheduler().add(task);
        return task;
    }

    @Override
    public void park(long ns) {
        simulation.scheduler().park(ns);
    }

    @Override
    public RunningTask begin(String name, boolean isDaemon, Runnable work) {
        final Fiber fiber = new Fiber(simulation, process, name + " of " + process, work);
        simulation.scheduler().add(fiber);
        return fiber;
    }

    @Override
    public boolean isOneAtATime() {
        return true;
    }

    @Override
    public Signal signal() {
        return new SimSignal(simulation);
    }
}
