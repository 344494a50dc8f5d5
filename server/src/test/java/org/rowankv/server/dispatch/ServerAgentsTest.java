package org.rowankv.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.AgentInvoker;
import org.rowankv.runtime.agent.Scheduling;

/** Agents of a server that run side by side. */
class ServerAgentsTest {
    private final List<AgentInvoker> taken = new ArrayList<>();
    private final ErrorLog errors = new ErrorLog(new ManualClock());

    private final Scheduling scheduling = new Scheduling() {
        @Override
        public AgentHandle take(Agent agent, ErrorLog errorLog) {
            final AgentInvoker invoker = new AgentInvoker(agent, errorLog);
            taken.add(invoker);
            return invoker;
        }

        @Override
        public void park(long ns) {
            throw new AssertionError("no wait is expected");
        }
    };

    private static final class Counting implements Agent {
        private int cycles;
        private int closed;
        private Throwable failure;

        @Override
        public int doWork() {
            cycles++;
            if (failure instanceof Error error) {
                throw error;
            }
            if (failure instanceof RuntimeException exception) {
                throw exception;
            }
            return 1;
        }

        @Override
        public String roleName() {
            return "counting";
        }

        @Override
        public void onClose() {
            closed++;
        }
    }

    private ServerAgents agents(Agent... sideBySide) {
        final ServerAgents agents = new ServerAgents(scheduling, errors, new ServingState(), fault -> {
            throw new AssertionError("no fault is expected", fault);
        });
        for (Agent agent : sideBySide) {
            agents.add(agent, () -> 0);
        }
        return agents;
    }

    private void runAll() {
        taken.forEach(AgentInvoker::tryInvoke);
    }

    @Test
    void shouldStopAllOnceABrokenInvariantHasStoppedOne() {
        final Counting first = new Counting();
        final Counting second = new Counting();
        try (ServerAgents agents = agents(first, second)) {
            agents.start();
            runAll();
            assertThat(agents.isClosed()).isFalse();
            second.failure = new AssertionError("broken");
            runAll();
            assertThat(agents.isClosed()).isTrue();
            final int cycles = first.cycles;
            runAll();
            assertThat(first.cycles).isEqualTo(cycles);
            assertThat(second.cycles).isEqualTo(2);
        }
        assertThat(first.closed).isEqualTo(1);
        assertThat(second.closed).isEqualTo(1);
        assertThat(errors.distinct()).hasSize(1);
    }

    @Test
    void shouldGoOnAfterAnOrdinaryFailure() {
        final Counting first = new Counting();
        final Counting second = new Counting();
        try (ServerAgents agents = agents(first, second)) {
            agents.start();
            second.failure = new IllegalStateException("ordinary");
            runAll();
            runAll();
            assertThat(agents.isClosed()).isFalse();
            assertThat(first.cycles).isEqualTo(2);
            assertThat(second.cycles).isEqualTo(2);
        }
    }
}
