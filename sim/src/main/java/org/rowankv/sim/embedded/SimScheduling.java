package org.rowankv.sim.embedded;

import org.rowankv.sim.Task;
import org.rowankv.sim.Timeline;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.AgentInvoker;
import org.rowankv.runtime.agent.Scheduling;

/** Scheduling that registers agents as tasks of a simulation. */
final class SimScheduling implements Scheduling {
    /**
     * One server's agents: ready when there may be work, otherwise idle for a while, like the threads of production.
     */
    static final class AgentTask extends Task implements AgentHandle {
        private static final long SHORTEST_REST_NS = 50_000;
        private static final long LONGEST_REST_NS = 10_000_000;

        private final AgentInvoker invoker;
        private final Timeline timeline;
        private final String name;
        private long restsUntilNs;
        private long idleNs = SHORTEST_REST_NS;
        private long pausedUntilNs;
        private boolean started;
        /** Maximum pause after work: the work has a duration. */
        private int slowNs;

        private @Nullable RandomSource slowness;

        private AgentTask(Agent agent, ErrorLog errors, Timeline timeline) {
            this.invoker = new AgentInvoker(agent, errors);
            this.name = agent.roleName();
            this.timeline = timeline;
        }

        @Override
        public void start() {
            invoker.start();
            started = true;
        }

        @Override
        public void wakeUp() {
            restsUntilNs = 0;
        }

        private void slow(int upToNs, RandomSource random) {
            slowNs = upToNs;
            slowness = random;
        }

        void pause(long ns) {
            pausedUntilNs = timeline.nowNs() + ns;
        }

        long pausedUntilNs() {
            return pausedUntilNs;
        }

        @Override
        public boolean isClosed() {
            return invoker.isClosed();
        }

        @Override
        public void close() {
            invoker.close();
        }

        @Override
        public long readyAtNs() {
            return !started || invoker.isClosed() ? NEVER : Math.max(restsUntilNs, pausedUntilNs);
        }

        @Override
        public void step() {
            if (invoker.tryInvoke() > 0) {
                idleNs = SHORTEST_REST_NS;
                restsUntilNs = 0;
                if (slowness != null) {
                    pause(slowness.nextInt(slowNs));
                }
            } else {
                restsUntilNs = timeline.nowNs() + idleNs;
                idleNs = Math.min(LONGEST_REST_NS, 2 * idleNs);
            }
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static final String FORCE = "force-";
    private static final String SERVER = "server-";

    private final EmbeddedSimulation simulation;
    private final List<AgentTask> agents = new ArrayList<>();
    private final List<AgentTask> servers = new ArrayList<>();

    SimScheduling(EmbeddedSimulation simulation) {
        this.simulation = simulation;
    }

    /** All of them: the servers' agents, and the separate ones that force areas or take checkpoints. */
    List<AgentTask> agents() {
        return agents;
    }

    /** The agents that do all other work, by server. */
    List<AgentTask> servers() {
        return servers;
    }

    @Override
    public AgentHandle take(Agent agent, ErrorLog errors) {
        final AgentTask task = new AgentTask(agent, errors, simulation.timeline());
        if (agent.roleName().startsWith(SERVER)) {
            servers.add(task);
        } else if (agent.roleName().startsWith(FORCE) && simulation.form().forceSteps() > 0) {
            final long upToNs = simulation.plan().stepNs() * simulation.form().forceSteps();
            task.slow(
                    (int) Math.min(Integer.MAX_VALUE, upToNs),
                    simulation.store().deviceRandom(agents.size()));
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
