package org.rowankv.driver.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.ModelSession;
import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;

/**
 * Errors of a session, as at the end of a caller's stack: slots and client sessions become free again, and stages
 * complete.
 */
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
        private int calls;
        /** One runs before each call. */
        private final Queue<Runnable> beforeCalls = new ArrayDeque<>();

        @Override
        public ModelSession below() {
            return model;
        }

        @Override
        public void call(Request request) {
            calls++;
            final Runnable before = beforeCalls.poll();
            if (before != null) {
                before.run();
            }
            if (fails) {
                overflow();
            }
            model.call(request);
            if (losesReplies) {
                request.noResult();
                request.answer(Status.NO_REPLY, 0, 0, 0);
            }
        }

        @Override
        public void callAsync(Request request, long untilNs, Runnable whenAnswered) {
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

    /** Fails once when a test says so. */
    private static final class FailingClock implements Clock {
        private final AtomicBoolean fails = new AtomicBoolean();

        @Override
        public long nanoTime() {
            throwOnce(fails);
            return SystemClock.INSTANCE.nanoTime();
        }

        @Override
        public long wallMs() {
            return SystemClock.INSTANCE.wallMs();
        }
    }

    private final FailingSession session = new FailingSession();
    private final FailingClock clock = new FailingClock();
    private final AtomicBoolean threadsFail = new AtomicBoolean();
    private final StepTimer timer = new StepTimer(SystemClock.INSTANCE, task -> {
        throwOnce(threadsFail);
        return new Thread(task);
    });
    private final AsyncRequests requests =
            new AsyncRequests(session, clock, new SplittableRandomSource(1), TimeUnit.SECONDS.toNanos(2), timer);
    private int cacheId;

    @BeforeEach
    void create() {
        cacheId = session.catalogue().create("c", new byte[0]).id();
    }

    @AfterEach
    void close() {
        requests.close();
    }

    private static void throwOnce(AtomicBoolean fails) {
        if (fails.compareAndSet(true, false)) {
            throw new InternalError("of the test");
        }
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

    /** Of the thread with a response: queued requests continue on another thread. */
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

    /** Takes all slots; the responses wait. */
    private List<CompletableFuture<Request>> takeAllPlaces() {
        session.holdsAnswers = true;
        final List<CompletableFuture<Request>> stages = new ArrayList<>();
        IntStream.range(0, AsyncRequests.AT_ONCE).forEach(i -> stages.add(execute(get())));
        session.holdsAnswers = false;
        return stages;
    }

    /** The thread with the response starts another request, which fails. */
    @Test
    void shouldCompleteTheStageOfAnAnsweredRequestWhenTheNextOneFails() {
        final List<CompletableFuture<Request>> stages = takeAllPlaces();
        final CompletableFuture<Request> next = execute(get());
        session.fails = true;
        session.answers.remove().run();
        session.fails = false;
        assertThat(stages.get(0)).isCompleted();
        assertThat(stages.get(0).join().status()).isEqualTo(Status.NOT_FOUND);
        assertThat(next).isCompleted();
        assertThat(next.join().status()).isEqualTo(Status.NO_REPLY);
        answerAll();
        requireAllPlaces();
    }

    /** It arrives while the first one starts, and the thread of the first one starts it. */
    @Test
    void shouldReturnTheStageOfARequestWhenAnotherOneFails() {
        final List<CompletableFuture<Request>> stages = takeAllPlaces();
        session.answers.remove().run();
        final List<CompletableFuture<Request>> others = new ArrayList<>();
        session.beforeCalls.add(() -> others.add(execute(get())));
        session.beforeCalls.add(AsyncRequestsErrorTest::overflow);
        final CompletableFuture<Request> stage = execute(get());
        assertThat(stage).isCompleted();
        assertThat(stage.join().status()).isEqualTo(Status.NOT_FOUND);
        assertThat(others).hasSize(1).allMatch(CompletableFuture::isDone);
        assertThat(others.get(0).join().status()).isEqualTo(Status.NO_REPLY);
        assertThat(stages.get(0)).isCompleted();
        answerAll();
        requireAllPlaces();
    }

    /** The timer, which starts queued requests after an error, refuses the step: the same thread continues. */
    @Test
    void shouldGoOnWithWhatWaitsWhenTheTimerFails() {
        final List<CompletableFuture<Request>> stages = takeAllPlaces();
        final CompletableFuture<Request> failing = execute(get());
        final CompletableFuture<Request> waiting = execute(get());
        session.beforeCalls.add(() -> {
            clock.fails.set(true);
            overflow();
        });
        session.answers.remove().run();
        assertThat(stages.get(0)).isCompleted();
        assertThat(failing).isCompleted();
        assertThat(failing.join().status()).isEqualTo(Status.NO_REPLY);
        assertThat(waiting).isCompleted();
        assertThat(waiting.join().status()).isEqualTo(Status.NOT_FOUND);
        answerAll();
        requireAllPlaces();
    }

    /** Without a step for its deadline a request is neither queued nor sent. */
    @Test
    void shouldRefuseToWaitWithoutATimer() {
        final List<CompletableFuture<Request>> stages = takeAllPlaces();
        threadsFail.set(true);
        assertThatThrownBy(() -> execute(put())).isInstanceOf(InternalError.class);
        final int calls = session.calls;
        answerAll();
        assertThat(session.calls).as("calls of the session").isEqualTo(calls);
        assertThat(stages).allMatch(CompletableFuture::isDone);
        requireAllPlaces();
    }

    private void answerAll() {
        session.answers.forEach(Runnable::run);
        session.answers.clear();
    }

    private static void overflow() {
        throw new StackOverflowError("of the test");
    }

    /** Operations that a caller executes together and awaits. */
    @Test
    void shouldGiveBackTheLanesOfABulkThatFails() {
        final ExactlyOnceExecutor ids = new ExactlyOnceExecutor(
                session,
                SystemClock.INSTANCE,
                new SplittableRandomSource(1),
                TimeUnit.MILLISECONDS.toNanos(200),
                2,
                CounterStarts.USUAL);
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
