package org.rowankv.bench.trace;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.AgentInvoker;
import org.rowankv.runtime.agent.Scheduling;

/**
 * Runs a store's agents on the one thread that uses the store, by a clock of their own: equal calls give equal writes.
 * Whenever the thread waits, and at each {@link #step}, time advances and each agent runs once.
 */
final class SteppedAgents implements Scheduling, Clock {
    private static final long STEP_NS = 100_000;
    private static final long BEGIN_MS = 1_700_000_000_000L;
    private static final long NS_PER_MS = 1_000_000;

    private final List<AgentInvoker> agents = new ArrayList<>();
    private long nowNs;

    @Override
    public AgentHandle take(Agent agent, ErrorLog errors) {
        final AgentInvoker invoker = new AgentInvoker(agent, errors);
        agents.add(invoker);
        return invoker;
    }

    @Override
    public void park(long ns) {
        nowNs += ns;
        agents.forEach(AgentInvoker::tryInvoke);
    }

    void step() {
        park(STEP_NS);
    }

    @Override
    public boolean isOneAtATime() {
        return true;
    }

    @Override
    public long nanoTime() {
        return nowNs;
    }

    @Override
    public long wallMs() {
        return BEGIN_MS + nowNs / NS_PER_MS;
    }
}
