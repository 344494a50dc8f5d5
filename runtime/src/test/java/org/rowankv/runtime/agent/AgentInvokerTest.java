package org.rowankv.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.FailureRun;
import org.rowankv.runtime.ManualClock;

/** Agents run on callers' threads, and several agents run as one. */
final class AgentInvokerTest {
    private final ErrorLog errors = new ErrorLog(new ManualClock());
    private final CountingAgent agent = new CountingAgent();
    private final AgentInvoker invoker = new AgentInvoker(agent, errors);

    @Test
    void shouldTurnOnlyBetweenStartAndClose() {
        agent.asked.set(3);
        assertThat(invoker.tryInvoke()).isZero();
        invoker.start();
        invoker.start();
        assertThat(invoker.tryInvoke()).isEqualTo(3);
        assertThat(invoker.tryInvoke()).isZero();
        invoker.close();
        invoker.close();
        agent.asked.set(9);
        assertThat(invoker.tryInvoke()).isZero();
        assertThat(invoker.isClosed()).isTrue();
        assertThat(agent.starts).hasValue(1);
        assertThat(agent.closes).hasValue(1);
    }

    @Test
    void shouldNotTurnTheAgentInsideItsOwnTurn() {
        invoker.start();
        final List<Integer> inner = new ArrayList<>();
        agent.asked.set(1);
        agent.inside = () -> inner.add(invoker.tryInvoke());
        assertThat(invoker.tryInvoke()).isEqualTo(1);
        assertThat(inner).containsExactly(0);
        assertThat(agent.overlaps).hasValue(0);
    }

    @Test
    void shouldGiveTheAgentToOneThreadAtATime() throws InterruptedException {
        invoker.start();
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            final Thread thread = new Thread(() -> {
                for (int n = 0; n < 20_000; n++) {
                    agent.asked.incrementAndGet();
                    invoker.tryInvoke();
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (final Thread thread : threads) {
            thread.join();
        }
        invoker.tryInvoke();
        assertThat(agent.overlaps).hasValue(0);
        assertThat(agent.done).hasValue(80_000);
    }

    @Test
    void shouldReportAFailureAndGoOn() {
        invoker.start();
        agent.failure = new IllegalStateException("planted");
        assertThat(invoker.tryInvoke()).isZero();
        assertThat(invoker.tryInvoke()).isZero();
        assertThat(errors.count()).isEqualTo(2);
        assertThat(errors.distinct()).hasSize(1);
        agent.failure = null;
        agent.asked.set(2);
        assertThat(invoker.tryInvoke()).isEqualTo(2);
    }

    /** An error may cut a step off between any two instructions; the next cycle must not use the state it left. */
    @ParameterizedTest
    @MethodSource("errorsOfTheMachine")
    void shouldStopAnAgentThatAnErrorCutsOff(Error error) {
        final List<Throwable> causes = new ArrayList<>();
        errors.whenBroken(why -> causes.add(why.getCause()));
        invoker.start();
        agent.error = error;
        assertThat(invoker.tryInvoke()).isZero();
        assertThat(invoker.isClosed()).isTrue();
        assertThat(causes).containsExactly(error);
        assertThat(errors.distinct().get(0).where()).contains("counting").contains("stopped");
    }

    static List<Error> errorsOfTheMachine() {
        return List.of(
                new StackOverflowError("planted"),
                new OutOfMemoryError("planted"),
                new NoClassDefFoundError("planted"),
                new AssertionError("planted"));
    }

    @Test
    void shouldStopAnAgentThatFailsAgainAndAgain() {
        final List<Throwable> causes = new ArrayList<>();
        errors.whenBroken(causes::add);
        invoker.start();
        agent.failure = new IllegalStateException("planted");
        for (int failures = 1; failures < FailureRun.LONGEST; failures++) {
            invoker.tryInvoke();
        }
        assertThat(invoker.isClosed()).isFalse();
        assertThat(causes).isEmpty();
        invoker.tryInvoke();
        assertThat(invoker.isClosed()).isTrue();
        assertThat(causes).hasSize(1);
        assertThat(causes.get(0)).hasMessageContaining("counting").hasRootCause(agent.failure);
    }

    /** An idle cycle between two equal failures does not end the run. */
    @Test
    void shouldNotTakeATurnWithoutWorkForTheEndOfFailures() {
        invoker.start();
        for (int failures = 0; failures < FailureRun.LONGEST; failures++) {
            assertThat(invoker.isClosed()).isFalse();
            agent.failure = new IllegalStateException("planted");
            invoker.tryInvoke();
            agent.failure = null;
            invoker.tryInvoke();
        }
        assertThat(invoker.isClosed()).isTrue();
    }

    @Test
    void shouldNotCountFailuresBetweenWhichTheAgentWorks() {
        invoker.start();
        for (int cycles = 1; cycles <= 4 * FailureRun.LONGEST; cycles++) {
            agent.failure = cycles % (FailureRun.LONGEST - 1) == 0 ? null : new IllegalStateException("planted");
            agent.asked.incrementAndGet();
            invoker.tryInvoke();
        }
        assertThat(invoker.isClosed()).isFalse();
    }

    /** The others do work in each cycle, and keep running until the end. */
    @Test
    void shouldStopACompositeOfWhichOneFailsAgainAndAgain() {
        final CountingAgent second = new CountingAgent();
        final AgentInvoker both = new AgentInvoker(new CompositeAgent("both", agent, second), errors);
        both.start();
        agent.failure = new IllegalStateException("planted");
        for (int failures = 1; failures <= FailureRun.LONGEST; failures++) {
            assertThat(both.isClosed()).isFalse();
            second.asked.incrementAndGet();
            both.tryInvoke();
            assertThat(second.done).hasValue(Math.min(failures, FailureRun.LONGEST - 1));
        }
        assertThat(both.isClosed()).isTrue();
        assertThat(errors.count()).isEqualTo(FailureRun.LONGEST);
    }

    @Test
    void shouldStopACompositeThatWorksInTurnsBetweenTheFailuresOfOne() {
        final CountingAgent second = new CountingAgent();
        final AgentInvoker both = new AgentInvoker(new CompositeAgent("both", agent, second), errors);
        both.start();
        for (int failures = 1; failures <= FailureRun.LONGEST; failures++) {
            assertThat(both.isClosed()).isFalse();
            agent.failure = new IllegalStateException("planted");
            both.tryInvoke();
            agent.failure = null;
            second.asked.incrementAndGet();
            both.tryInvoke();
        }
        assertThat(both.isClosed()).isTrue();
    }

    @Test
    void shouldStopAnAgentWhoseInvariantIsBroken() {
        invoker.start();
        agent.error = new AssertionError("planted");
        assertThat(invoker.tryInvoke()).isZero();
        assertThat(invoker.isClosed()).isTrue();
        agent.error = null;
        agent.asked.set(2);
        assertThat(invoker.tryInvoke()).isZero();
        assertThat(errors.count()).isEqualTo(1);
        assertThat(errors.distinct().get(0).where()).contains("counting").contains("broken invariant");
        invoker.close();
        assertThat(agent.closes).hasValue(1);
    }

    @Test
    void shouldGiveEveryAgentOfACompositeItsTurn() {
        final CountingAgent second = new CountingAgent();
        final CompositeAgent both = new CompositeAgent("both", agent, second);
        both.onStart();
        agent.asked.set(1);
        second.asked.set(2);
        assertThat(both.doWork()).isEqualTo(3);
        agent.failure = new IllegalStateException("planted");
        second.asked.set(5);
        assertThatThrownBy(both::doWork).hasMessage("planted");
        assertThat(second.done).hasValue(5);
        second.error = new OutOfMemoryError("worse");
        assertThatThrownBy(both::doWork).isInstanceOf(OutOfMemoryError.class);
        second.error = new AssertionError("worst");
        assertThatThrownBy(both::doWork).isInstanceOf(AssertionError.class);
        agent.failure = null;
        agent.error = new AssertionError("first");
        final long cycles = second.cycles.get();
        assertThatThrownBy(both::doWork).hasMessage("first");
        assertThat(second.cycles)
                .as("cycles of the next after a broken invariant")
                .hasValue(cycles);
        both.onClose();
        assertThat(agent.closes).hasValue(1);
        assertThat(second.closes).hasValue(1);
    }
}
