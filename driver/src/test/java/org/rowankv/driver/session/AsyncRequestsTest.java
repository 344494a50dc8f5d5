package org.rowankv.driver.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.ModelSession;
import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;

/** The queue of requests behind those in flight. */
@Timeout(120)
final class AsyncRequestsTest {
    private static final long DEADLINE_NS = 1_000_000_000;
    private static final byte[] KEY = {1};

    /** Answers when the test says so. */
    private static final class HoldingSession implements ForwardingSession {
        private final ModelSession model;
        private final Queue<Runnable> answers = new ArrayDeque<>();

        HoldingSession(ManualClock clock) {
            this.model = new ModelSession(clock, 1);
        }

        @Override
        public ModelSession below() {
            return model;
        }

        @Override
        public void callAsync(Request request, long untilNs, Runnable whenAnswered) {
            model.call(request);
            answers.add(whenAnswered);
        }
    }

    private final ManualClock clock = new ManualClock();
    private final HoldingSession session = new HoldingSession(clock);
    private final AtomicBoolean noThreads = new AtomicBoolean();
    private final AsyncRequests requests =
            new AsyncRequests(session, clock, new SplittableRandomSource(1), DEADLINE_NS, new StepTimer(clock, task -> {
                if (noThreads.get()) {
                    throw new InternalError("of the test");
                }
                return new Thread(task);
            }));
    private final int cache = session.catalogue().create("cache", new byte[0]).id();

    private Request get() {
        final Request get = new Request().get(cache, KEY, 0, KEY.length);
        get.placed(1, 0);
        return get;
    }

    private CompletableFuture<Request> execute() {
        return requests.execute(get()).toCompletableFuture();
    }

    /** Fills the queue; then it is empty again, and the queued requests are answered. */
    private void requireRoomForAll() {
        final Request never = get(); // In flight for good, so one request serves for all.
        final List<CompletableFuture<Request>> waiting = new ArrayList<>();
        for (int i = 0; i < AsyncRequests.MAX_WAITING; i++) {
            waiting.add(requests.execute(never).toCompletableFuture());
        }
        assertThatThrownBy(this::execute).isInstanceOf(RejectedExecutionException.class);
        requests.close();
        // The timer, whose steps are all due now, may be about to end one of them.
        await().atMost(60, TimeUnit.SECONDS).until(() -> waiting.stream().allMatch(CompletableFuture::isDone));
        assertThat(never.status()).isEqualTo(Status.CLOSED);
    }

    /** By another response, at the deadline, or because the timer for the deadline fails. */
    @Test
    void shouldHaveRoomForAsManyHoweverThoseBeforeHaveLeft() {
        final List<CompletableFuture<Request>> underWay = new ArrayList<>();
        for (int i = 0; i < AsyncRequests.AT_ONCE; i++) {
            underWay.add(execute());
        }
        assertThat(session.answers).hasSize(AsyncRequests.AT_ONCE);

        noThreads.set(true);
        assertThatThrownBy(this::execute).isInstanceOf(InternalError.class);
        noThreads.set(false);

        final List<CompletableFuture<Request>> served = List.of(execute(), execute(), execute());
        for (int i = 0; i < served.size(); i++) {
            session.answers.remove().run();
        }
        assertThat(underWay.subList(0, served.size())).allMatch(CompletableFuture::isDone);
        assertThat(session.answers).as("those that waited are under way now").hasSize(AsyncRequests.AT_ONCE);

        final List<CompletableFuture<Request>> overdue = List.of(execute(), execute());
        clock.advanceNs(DEADLINE_NS);
        await().atMost(60, TimeUnit.SECONDS).until(() -> overdue.stream().allMatch(CompletableFuture::isDone));
        assertThat(overdue).extracting(each -> each.join().status()).containsOnly(Status.UNREACHABLE);

        requireRoomForAll();
        session.answers.forEach(Runnable::run);
        assertThat(served).extracting(each -> each.join().status()).containsOnly(Status.NOT_FOUND);
    }

    /** The timer no longer pauses, so the request would be retried without a pause. */
    @Test
    void shouldTryNothingAgainOnceItIsClosed() {
        session.model.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request attempt) {
                return Status.UNREACHABLE;
            }
        });
        final CompletableFuture<Request> stage = execute();
        final long calls = session.model.calls();
        session.answers.remove().run();
        assertThat(stage).as("it pauses, and the clock stands still").isNotDone();
        requests.close();
        await().atMost(60, TimeUnit.SECONDS).until(stage::isDone);
        assertThat(stage.join().status()).isEqualTo(Status.CLOSED);
        assertThat(session.model.calls()).isEqualTo(calls);
    }
}
