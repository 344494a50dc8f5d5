package org.rowankv.driver.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.ForwardingSession;
import org.rowankv.driver.ModelSession;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;

/** Errors of a session, as at the end of a caller's stack: places and lanes become free again, and stages complete. */
@Timeout(120)
final class AsyncRequestsErrorTest {
    private static final byte[] KEY = {1};

    /** Fails calls, or answers them when a test says so. */
    private static final class FailingSession implements ForwardingSession {
        private final ModelSession model = new ModelSession(SystemClock.INSTANCE, 1);
        private final Queue<Runnable> answers = new ArrayDeque<>();
        private volatile boolean fails;
        private volatile boolean failsBehind;
        private volatile boolean losesReplies;
        private volatile boolean holdsAnswers;

        @Override
        public ModelSession below() {
            return model;
        }

        @Override
        public void call(Request request) {
            if (fails) {
                throw new StackOverflowError("of the test");
            }
            model.call(request);
            if (losesReplies) {
                request.noResult();
                request.answer(Status.NO_REPLY, 0, 0, 0);
            }
        }

        @Override
        public void callAsync(Request request, Runnable whenAnswered) {
            call(request);
            if (holdsAnswers) {
                answers.add(whenAnswered);
                if (failsBehind) {
                    throw new OutOfMemoryError("of the test");
                }
            } else {
                whenAnswered.run();
            }
        }
    }

    private final FailingSession session = new FailingSession();
    private final AsyncRequests requests = new AsyncRequests(
            session, SystemClock.INSTANCE, new SplittableRandomSource(1), TimeUnit.SECONDS.toNanos(2));
    private int cacheId;

    @BeforeEach
    void create() {
        cacheId = session.catalogue().create("c", new byte[0]).id();
    }

    @AfterEach
    void close() {
        requests.close();
    }

    private Request put() {
        return placed(new Request().put(cacheId, KEY, 0, KEY.length, KEY, 0, KEY.length));
    }

    private Request get() {
        return placed(new Request().get(cacheId, KEY, 0, KEY.length));
    }

    private static Request placed(Request request) {
        request.placed(1, 0);
        return request;
    }

    private CompletableFuture<Request> execute(Request request) {
        return requests.execute(request).toCompletableFuture();
    }

    private void requireAllPlaces() {
        session.holdsAnswers = true;
        final List<CompletableFuture<Request>> stages = new ArrayList<>();
        for (int i = 0; i <= AsyncRequests.AT_ONCE; i++) {
            stages.add(execute(put()));
        }
        assertThat(session.answers).as("requests under way at once").hasSize(AsyncRequests.AT_ONCE);
        session.holdsAnswers = false;
        session.answers.forEach(Runnable::run);
        session.answers.clear();
        assertThat(stages.stream().filter(CompletableFuture::isDone)).hasSameSizeAs(stages);
    }

    @Test
    void shouldGiveBackPlaceAndLaneWhenACallFailsBeforeItsAttempt() {
        session.fails = true;
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> execute(put())).isInstanceOf(StackOverflowError.class);
            assertThatThrownBy(() -> execute(get())).isInstanceOf(StackOverflowError.class);
        }
        session.fails = false;
        requireAllPlaces();
    }

    @Test
    void shouldIgnoreTheAnswerOfACallThatFailed() {
        session.holdsAnswers = true;
        session.failsBehind = true;
        assertThatThrownBy(() -> execute(put())).isInstanceOf(OutOfMemoryError.class);
        session.failsBehind = false;
        session.answers.remove().run();
        requireAllPlaces();
    }

    @Test
    void shouldCompleteAStageWhoseRepetitionFails() {
        session.holdsAnswers = true;
        session.losesReplies = true;
        final CompletableFuture<Request> stage = execute(put());
        session.losesReplies = false;
        session.fails = true;
        final Runnable answer = session.answers.remove();
        assertThatThrownBy(answer::run).isInstanceOf(StackOverflowError.class);
        assertThat(stage).isCompleted();
        assertThat(stage.join().status()).isEqualTo(Status.OUTCOME_UNKNOWN);
        session.fails = false;
        requireAllPlaces();
    }

    /** Of the thread that has an answer: what waits for a place goes on, on another one. */
    @Test
    void shouldGoOnWithWhatWaitsForAPlace() throws Exception {
        session.holdsAnswers = true;
        session.losesReplies = true;
        final List<CompletableFuture<Request>> stages = new ArrayList<>();
        IntStream.range(0, AsyncRequests.AT_ONCE).forEach(i -> stages.add(execute(put())));
        session.losesReplies = false;
        final List<Runnable> answers = List.copyOf(session.answers);
        session.answers.clear();
        final CompletableFuture<Request> waiting = execute(get());
        session.holdsAnswers = false;
        session.fails = true;
        final Runnable first = answers.get(0);
        assertThatThrownBy(() -> {
                    try {
                        first.run();
                    } finally {
                        session.fails = false;
                    }
                })
                .isInstanceOf(StackOverflowError.class);
        assertThat(waiting.get(60, TimeUnit.SECONDS).status()).isNotNull();
        answers.stream().skip(1).forEach(Runnable::run);
        assertThat(stages.stream().filter(CompletableFuture::isDone)).hasSameSizeAs(stages);
    }

    /** Of operations that a caller carries out together, and waits for. */
    @Test
    void shouldGiveBackTheLanesOfABulkThatFails() {
        final RequestIds ids = new RequestIds(
                session, SystemClock.INSTANCE, new SplittableRandomSource(1), TimeUnit.MILLISECONDS.toNanos(200), 2);
        session.fails = true;
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> ids.executeAll(List.of(put(), put()))).isInstanceOf(StackOverflowError.class);
        }
        session.fails = false;
        final List<Request> bulk = List.of(put(), put());
        ids.executeAll(bulk);
        assertThat(bulk).allMatch(each -> each.status() == Status.OK && each.operation() == Operation.PUT);
    }
}
