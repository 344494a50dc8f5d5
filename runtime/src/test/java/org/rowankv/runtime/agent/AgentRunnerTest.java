package org.rowankv.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;

/** Agents with a thread of their own. */
@Timeout(120)
@Tag("jvm")
final class AgentRunnerTest {
    private static final long FOR_EVER_NS = TimeUnit.HOURS.toNanos(1);

    private final ErrorLog errors = new ErrorLog(new ManualClock());
    private final CountingAgent agent = new CountingAgent();
    private AgentRunner runner = new AgentRunner(agent, errors);

    @AfterEach
    void close() {
        runner.close();
        assertThat(agent.overlaps).hasValue(0);
    }

    @Test
    void shouldTurnTheAgentUntilItIsClosed() {
        runner.start();
        agent.asked.set(5);
        await().until(() -> agent.done.get() == 5);
        runner.close();
        runner.close();
        assertThat(agent.starts).hasValue(1);
        assertThat(agent.closes).hasValue(1);
        assertThat(runner.isClosed()).isTrue();
    }

    @Test
    void shouldLoseNoWakeUp() {
        // Parks grow so long that one lost wake-up would hang the test.
        runner = new AgentRunner(agent, errors, FOR_EVER_NS);
        runner.start();
        for (int i = 1; i <= 6_000; i++) {
            agent.asked.set(i);
            runner.wakeUp();
            while (agent.done.get() < i) {
                Thread.yield();
            }
            if (i % 256 == 0) {
                // Let the agent progress towards its longer pauses.
                final long cycles = agent.cycles.get();
                // Bounded: the agent may idle already, and then its cycles become rare.
                for (int looks = 0; looks < 5_000 && agent.cycles.get() <= cycles + cycles % 50; looks++) {
                    Thread.yield();
                }
            }
        }
    }

    @Test
    void shouldLoseNoWakeUpWhileOthersHelp() throws InterruptedException {
        runner = new AgentRunner(agent, errors, FOR_EVER_NS);
        runner.start();
        final CountDownLatch end = new CountDownLatch(1);
        final Thread helper = new Thread(() -> {
            while (end.getCount() > 0) {
                runner.tryInvoke();
                Thread.yield();
            }
        });
        helper.start();
        for (int i = 1; i <= 6_000; i++) {
            agent.asked.incrementAndGet();
            runner.wakeUp();
        }
        end.countDown();
        helper.join();
        agent.asked.incrementAndGet();
        runner.wakeUp();
        await().until(() -> agent.done.get() == 6_001);
    }

    @Test
    void shouldLetAnotherThreadTurnAParkedAgent() {
        runner = new AgentRunner(agent, errors, FOR_EVER_NS);
        runner.start();
        agent.asked.set(1);
        await().until(() -> agent.done.get() == 1 || runner.tryInvoke());
        assertThat(agent.done).hasValue(1);
        assertThat(runner.tryInvoke()).isFalse();
    }

    @Test
    void shouldNotRestOnATurnThatAnotherThreadHas() throws InterruptedException {
        runner = new AgentRunner(agent, errors, FOR_EVER_NS);
        runner.start();
        final CountDownLatch inside = new CountDownLatch(1);
        final CountDownLatch leave = new CountDownLatch(1);
        final Thread[] helper = new Thread[1];
        agent.inside = () -> {
            if (Thread.currentThread() == helper[0]) {
                inside.countDown();
                awaitQuietly(leave);
            }
        };
        helper[0] = new Thread(() -> {
            while (inside.getCount() > 0) {
                runner.tryInvoke();
            }
        });
        helper[0].start();
        inside.await();
        // The helper polled before this work arrived, and no wake-up follows.
        runner.wakeUp();
        leave.countDown();
        helper[0].join();
        agent.asked.set(1);
        runner.wakeUp();
        await().until(() -> agent.done.get() == 1);
    }

    @Test
    void shouldNotBeDisturbedByAnInterrupt() {
        final Thread[] self = new Thread[1];
        agent.inside = () -> self[0] = Thread.currentThread();
        runner.start();
        await().until(() -> self[0] != null);
        self[0].interrupt();
        agent.asked.set(1);
        await().until(() -> agent.done.get() == 1);
        await().until(() -> !self[0].isInterrupted());
    }

    @Test
    void shouldRestWhenThereIsNothingToDo() {
        runner = new AgentRunner(agent, errors, FOR_EVER_NS);
        runner.start();
        // Doubling from half a millisecond, the pauses soon exceed the length of any test.
        final long[] before = {-1};
        await().pollInterval(200, TimeUnit.MILLISECONDS).until(() -> {
            final long cycles = agent.cycles.get();
            final boolean still = cycles == before[0];
            before[0] = cycles;
            return still;
        });
    }

    @Test
    void shouldReportFailuresAndStopAtABrokenInvariant() {
        agent.failure = new IllegalStateException("planted");
        runner.start();
        await().until(() -> errors.count() > 3);
        agent.failure = null;
        agent.error = new AssertionError("planted");
        await().until(runner::isClosed);
        assertThat(agent.closes).as("closed only on request").hasValue(0);
        runner.close();
        assertThat(agent.closes).hasValue(1);
    }

    @Test
    void shouldReportAnAgentThatDoesNotStart() {
        final Agent broken = new Agent() {
            @Override
            public int doWork() {
                throw new AssertionError("it never ran");
            }

            @Override
            public String roleName() {
                return "broken";
            }

            @Override
            public void onStart() {
                throw new IllegalStateException("planted");
            }
        };
        try (AgentRunner starter = new AgentRunner(broken, errors)) {
            starter.start();
            await().until(starter::isClosed);
            await().until(() -> errors.count() == 1);
            assertThat(errors.distinct().get(0).where()).startsWith("broken at its start");
        }
    }

    @Test
    void shouldCloseWhatWasNeverStarted() {
        runner.close();
        assertThat(agent.starts).hasValue(0);
        assertThat(agent.closes).hasValue(0);
        assertThat(runner.isClosed()).isTrue();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** An agent that permits an idle time of the given length. */
    private static final class Resting implements Agent {
        private final CountingAgent counting;
        private volatile long idleNs;

        Resting(CountingAgent counting, long idleNs) {
            this.counting = counting;
            this.idleNs = idleNs;
        }

        @Override
        public int doWork() {
            return counting.doWork();
        }

        @Override
        public long idleNs() {
            return idleNs;
        }

        @Override
        public String roleName() {
            return "resting";
        }
    }

    @Test
    void shouldNotRunAnAgentInALongPauseUntilThatIsEnded() {
        final Resting resting = new Resting(agent, FOR_EVER_NS);
        runner = new AgentRunner(resting, errors, 1_000_000);
        runner.start();
        // On the way to an idle time that outlasts the test, pauses double, two cycles each.
        await().atMost(60, TimeUnit.SECONDS).until(() -> agent.cycles.get() > 16 && isStill());
        for (int i = 1; i <= 50; i++) {
            agent.asked.incrementAndGet();
            // A signal just before the agent idles may be missed once; by now it is parked.
            await().atMost(60, TimeUnit.SECONDS)
                    .pollInterval(1, TimeUnit.MILLISECONDS)
                    .until(() -> {
                        runner.endLongPause();
                        return agent.done.get() == agent.asked.get();
                    });
        }
        assertThat(runner.longPauses()).isPositive();
    }

    /** Whether the agent runs no cycle while another runner makes a hundred. */
    private boolean isStill() {
        final CountingAgent other = new CountingAgent();
        final AgentRunner timer = new AgentRunner(other, errors, 1_000_000);
        final long before = agent.cycles.get();
        timer.start();
        await().atMost(60, TimeUnit.SECONDS).until(() -> other.cycles.get() >= 200);
        timer.close();
        return agent.cycles.get() == before;
    }

    @Test
    void shouldTurnAnAgentThatRestsTwiceForEachTimer() {
        runner = new AgentRunner(new Resting(agent, 4_000_000), errors, 1_000_000);
        runner.start();
        await().atMost(60, TimeUnit.SECONDS).until(() -> runner.longPauses() > 3);
        final long restsBefore = runner.longPauses();
        final long cyclesBefore = agent.cycles.get();
        await().atMost(60, TimeUnit.SECONDS).until(() -> runner.longPauses() >= restsBefore + 50);
        final long cycles = agent.cycles.get() - cyclesBefore;
        assertThat(cycles).isLessThanOrEqualTo(2 * (runner.longPauses() - restsBefore) + 4);
    }
}
