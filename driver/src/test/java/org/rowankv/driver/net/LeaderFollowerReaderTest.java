package org.rowankv.driver.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.concurrent.Parker;

/** Callers that wait as followers. */
@Tag("jvm")
final class LeaderFollowerReaderTest {
    private static final long DEADLINE_NS = 5_000;

    private final ManualClock clock = new ManualClock(1_000, 0);
    private final InFlightRequest own = new InFlightRequest(0);
    private final LeaderFollowerReader role = new LeaderFollowerReader(
            new InFlightRequest[] {own},
            Parker.THREADS,
            new LeaderFollowerReader.Reader() {
                @Override
                public boolean read(InFlightRequest unused, boolean spins) {
                    throw new AssertionError("it never reads");
                }

                @Override
                public boolean isOver(InFlightRequest each) {
                    return over || each.isDone();
                }
            },
            clock);
    private volatile boolean interrupted;
    private volatile boolean over;
    private final Thread waiting = new Thread(() -> interrupted = role.awaitAsFollower(own));

    private void startAndAwaitParked() {
        own.begin(0, 0, 0, DEADLINE_NS);
        own.state(InFlightRequest.SENT);
        waiting.start();
        await().until(() -> waiting.getState() == Thread.State.WAITING); // without a time
    }

    @Test
    void shouldWakeUpWhoseTimeIsOverAndNobodyElse() {
        startAndAwaitParked();
        clock.advanceNs(DEADLINE_NS - 1_000 - 1);
        role.wakeOverdueFollowers();
        assertThat(own.isOverdue(clock.nanoTime())).isFalse();
        clock.advanceNs(1);
        assertThat(own.isOverdue(clock.nanoTime())).isTrue();
        assertThat(own.parked()).isSameAs(waiting);
        await().until(() -> {
            role.wakeOverdueFollowers();
            return !waiting.isAlive();
        });
        assertThat(own.isDone()).isFalse();
        assertThat(own.parked()).isNull();
    }

    @Test
    void shouldWakeUpWhatIsOver() throws InterruptedException {
        startAndAwaitParked();
        over = true;
        role.wakeAll();
        waiting.join();
        assertThat(own.isDone()).isFalse();
    }

    @Test
    void shouldWaitForNobodyWhoHasGone() throws InterruptedException {
        startAndAwaitParked();
        role.abandonFollowers();
        waiting.join();
        assertThat(own.isDone()).isFalse();
        assertThat(role.awaitAsFollower(own)).isFalse(); // at once
    }

    @Test
    void shouldWaitOnWhenInterruptedAndSayItAfterwards() {
        startAndAwaitParked();
        waiting.interrupt();
        await().until(() -> !waiting.isInterrupted() && waiting.getState() == Thread.State.WAITING);
        own.state(InFlightRequest.ANSWERING);
        role.wake(own.done(InFlightRequest.Outcome.ANSWERED));
        await().until(() -> !waiting.isAlive());
        assertThat(interrupted).isTrue();
    }
}
