package org.rowankv.server.embedded;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.AgentInvoker;
import org.rowankv.runtime.agent.Scheduling;

/**
 * Runs the agents of a store on the one thread that uses it. So the bytes of the store are at rest between any two
 * statements of a test. Whenever that thread waits, time advances, and each agent runs once, except for some that are
 * paused for a while.
 */
final class OneThread implements Scheduling {
    private static final String CHECKPOINT = "checkpoint-";

    /** One in this many agents pauses, for as many waits. */
    private static final int SOME = 4;

    private static final int A_WHILE = 16;

    private final ManualClock clock;
    private final Random random;
    private final List<AgentInvoker> agents = new ArrayList<>();
    private final List<AgentInvoker> checkpoints = new ArrayList<>();
    private final List<AgentInvoker> slow = new ArrayList<>();
    private @Nullable List<String> held;

    /** @param seed decides which agents are slow */
    OneThread(ManualClock clock, long seed) {
        this.clock = clock;
        this.random = new Random(seed);
    }

    @Override
    public AgentHandle take(Agent agent, ErrorLog errors) {
        final AgentInvoker invoker = new AgentInvoker(agent, errors);
        (agent.roleName().startsWith(CHECKPOINT) ? checkpoints : agents).add(invoker);
        return invoker;
    }

    @Override
    public void park(long ns) {
        clock.advanceNs(ns);
        if (held == null && random.nextInt(A_WHILE) == 0) {
            slow.clear();
            agents.stream().filter(agent -> random.nextInt(SOME) == 0).forEach(slow::add);
            checkpoints.stream().filter(agent -> random.nextInt(SOME) == 0).forEach(slow::add);
        }
        step(agents.stream().filter(this::goesOn).toList());
        step(checkpoints.stream().filter(this::goesOn).toList());
    }

    private boolean goesOn(AgentInvoker agent) {
        return !slow.contains(agent) && !isHeld(agent);
    }

    /** Pauses the agents with these name prefixes during waits; all others run always. */
    void hold(String... names) {
        held = List.of(names);
        slow.clear();
    }

    private boolean isHeld(AgentInvoker agent) {
        return held != null
                && held.stream().anyMatch(name -> agent.agent().roleName().startsWith(name));
    }

    @Override
    public boolean isOneAtATime() {
        return true;
    }

    /** Runs each agent that many times, a quarter of a millisecond apart. */
    void step(int times) {
        for (int i = 0; i < times; i++) {
            clock.advanceNs(250_000);
            step(agents);
        }
    }

    /** Runs each checkpoint agent once. */
    void stepCheckpoints() {
        step(checkpoints);
    }

    /** Skips an agent in the middle of its cycle, in which a test uses the store. */
    private static void step(List<AgentInvoker> stepped) {
        stepped.forEach(AgentInvoker::tryInvoke);
    }
}
