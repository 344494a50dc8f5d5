package org.rowankv.sim.embedded;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.Scheduling;

/** Scheduling that registers agents as tasks of a simulation. */
final class SimScheduling implements Scheduling {
    private static final String SERVER = "server-";

    private final EmbeddedSimulation simulation;
    private final List<ServerAgent> agents = new ArrayList<>();
    private final List<ServerAgent> servers = new ArrayList<>();

    SimScheduling(EmbeddedSimulation simulation) {
        this.simulation = simulation;
    }

    /** All of them: the servers' agents, and the separate ones that force areas or take checkpoints. */
    List<ServerAgent> agents() {
        return agents;
    }

    /** The agents that do all other work, by server. */
    List<ServerAgent> servers() {
        return servers;
    }

    @Override
    public AgentHandle take(Agent agent, ErrorLog errors) {
        final long forceNs = simulation.plan().stepNs() * simulation.storePlan().forceSteps();
        final ServerAgent task = new ServerAgent(
                simulation,
                agent,
                errors,
                (int) Math.min(Integer.MAX_VALUE, forceNs),
                simulation.store().deviceRandom(agents.size()));
        if (agent.roleName().startsWith(SERVER)) {
            servers.add(task);
        }
        agents.add(task);
        return task;
    }

    @Override
    public boolean isOneAtATime() {
        return true;
    }

    @Override
    public void park(long ns) {
        simulation.scheduler().park(ns);
    }
}
