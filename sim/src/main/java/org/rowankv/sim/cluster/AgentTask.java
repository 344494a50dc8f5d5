package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.AgentInvoker;

/**
 * The duty cycles of one agent as a task: ready when there may be work, otherwise idle for a while, like the threads of
 * production.
 */
final class AgentTask extends ProcessTask implements AgentHandle {
    private static final long SHORTEST_REST_NS = 50_000;
    private static final long LONGEST_REST_NS = 10_000_000;

    private final ClusterSimulation simulation;
    private final SimProcess process;
    private final AgentInvoker invoker;
    private final String name;
    /** Maximum pause after work: the work has a duration. */
    private final int slowNs;

    private final @Nullable RandomSource slowness;
    private long restsUntilNs;
    private long idleNs = SHORTEST_REST_NS;
    private boolean started;

    AgentTask(
            ClusterSimulation simulation,
            SimProcess process,
            Agent agent,
            ErrorLog errors,
            int slowNs,
            @Nullable RandomSource slowness) {
        super(process);
        this.simulation = simulation;
        this.process = process;
        this.invoker = new AgentInvoker(agent, errors);
        this.name = agent.roleName() + " of " + process;
        this.slowNs = slowNs;
        this.slowness = slowness;
    }

    @Override
    public void start() {
        invoker.start();
        started = true;
        simulation.scheduler().changed(this);
    }

    @Override
    public void wakeUp() {
        restsUntilNs = 0;
        simulation.scheduler().changed(this);
    }

    @Override
    public boolean isClosed() {
        return invoker.isClosed();
    }

    @Override
    public boolean isGone() {
        return super.isGone() || invoker.isClosed();
    }

    @Override
    public void close() {
        while (isOnStack()) {
            Fiber.required().rest(simulation.timeline().nowNs() + 10_000);
        }
        invoker.close();
        simulation.scheduler().changed(this);
    }

    @Override
    public long readyAtNs() {
        return started ? Math.max(restsUntilNs, process.pausedUntilNs()) : NEVER;
    }

    @Override
    public void step() {
        if (invoker.tryInvoke() > 0) {
            idleNs = SHORTEST_REST_NS;
            restsUntilNs = slowness == null ? 0 : simulation.timeline().nowNs() + slowness.nextInt(slowNs);
        } else {
            restsUntilNs = simulation.timeline().nowNs() + idleNs;
            idleNs = Math.min(LONGEST_REST_NS, 2 * idleNs);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
