package org.rowankv.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Turning agents on callers' threads, and several as one. */
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
        agent.error = new StackOverflowError("planted");
        invoker.tryInvoke();
        assertThat(errors.distinct()).hasSize(2);
        agent.error = null;
        agent.asked.set(2);
        assertThat(invoker.tryInvoke()).isEqualTo(2);
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
        second.error = new AssertionError("worse");
        assertThatThrownBy(both::doWork).isInstanceOf(AssertionError.class);
        both.onClose();
        assertThat(agent.closes).hasValue(1);
        assertThat(second.closes).hasValue(1);
    }
}
