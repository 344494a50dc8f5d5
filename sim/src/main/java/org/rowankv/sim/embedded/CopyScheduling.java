package org.rowankv.sim.embedded;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.AgentInvoker;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.sim.Timeline;

/** Scheduling for a store outside the simulation: runs all its agents whenever its one caller waits. */
final class CopyScheduling implements Scheduling {
    private static final class SteppedAgent implements AgentHandle {
        private final AgentInvoker invoker;

        SteppedAgent(Agent agent, ErrorLog errors) {
            this.invoker = new AgentInvoker(agent, errors);
        }

        @Override
        public void start() {
            invoker.start();
        }

        @Override
        public void wakeUp() {
            // It runs at the next park in any case.
        }

        @Override
        public boolean isClosed() {
            return invoker.isClosed();
        }

        @Override
        public void close() {
            invoker.close();
        }
    }

    private final Timeline timeline;
    private final List<SteppedAgent> agents = new ArrayList<>();

    CopyScheduling(Timeline timeline) {
        this.timeline = timeline;
    }

    @Override
    public AgentHandle take(Agent agent, ErrorLog errors) {
        final SteppedAgent handle = new SteppedAgent(agent, errors);
        agents.add(handle);
        return handle;
    }

    @Override
    public void park(long ns) {
        timeline.advance(ns);
        for (SteppedAgent each : List.copyOf(agents)) {
            each.invoker.tryInvoke();
        }
    }

    @Override
    public boolean isOneAtATime() {
        return true;
    }
}
