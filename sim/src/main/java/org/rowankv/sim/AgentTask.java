package org.rowankv.sim;

import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.AgentInvoker;

/**
 * The duty cycles of one agent as a task: ready when there may be work, otherwise idle for a while, like the threads of
 * production.
 */
public abstract class AgentTask extends Task implements AgentHandle {
    private static final long SHORTEST_REST_NS = 50_000;
    private static final long LONGEST_REST_NS = 10_000_000;
    private static final String FORCE = "force-";

    private final SeedRun run;
    private final AgentInvoker invoker;
    private final String name;
    /** Maximum length of its work; 0: it ends as soon as it runs. */
    private final int slowNs;

    private final RandomSource slowness;
    private long restsUntilNs;
    private long busyUntilNs;
    private long idleNs = SHORTEST_REST_NS;
    private boolean started;

    /**
     * Not started.
     *
     * @param forceNs maximum length of its work if it forces an area
     * @param device random source of that
     */
    protected AgentTask(SeedRun run, Agent agent, ErrorLog errors, int forceNs, RandomSource device) {
        this.run = run;
        this.invoker = new AgentInvoker(agent, errors);
        this.name = agent.roleName();
        this.slowNs = name.startsWith(FORCE) ? forceNs : 0;
        this.slowness = device;
    }

    /** Until then its server is stalled. */
    protected abstract long pausedUntilNs();

    @Override
    public final void start() {
        invoker.start();
        started = true;
        run.scheduler().changed(this);
    }

    @Override
    public final void wakeUp() {
        restsUntilNs = 0;
        run.scheduler().changed(this);
    }

    @Override
    public final boolean isClosed() {
        return invoker.isClosed();
    }

    @Override
    public final boolean isGone() {
        return isDead() || isClosed();
    }

    @Override
    public void close() {
        invoker.close();
        run.scheduler().changed(this);
    }

    @Override
    public final long readyAtNs() {
        return started && !isClosed() ? Math.max(Math.max(restsUntilNs, busyUntilNs), pausedUntilNs()) : NEVER;
    }

    @Override
    public final void step() {
        if (invoker.tryInvoke() > 0) {
            idleNs = SHORTEST_REST_NS;
            restsUntilNs = 0;
            if (slowNs > 0) {
                busyUntilNs = run.timeline().nowNs() + slowness.nextInt(slowNs);
            }
        } else {
            restsUntilNs = run.timeline().nowNs() + idleNs;
            idleNs = Math.min(LONGEST_REST_NS, 2 * idleNs);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
