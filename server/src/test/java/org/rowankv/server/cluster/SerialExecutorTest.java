package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.agent.ThreadScheduling;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class SerialExecutorTest {
    private final ErrorLog errors = new ErrorLog(new ManualClock());
    private final CompletableFuture<AgentStoppedException> stopped = new CompletableFuture<>();
    private final SerialExecutor deferred = new SerialExecutor("rowan-chores-test", ThreadScheduling.INSTANCE, errors);

    @AfterEach
    void end() {
        deferred.end();
        deferred.awaitEnd();
    }

    @Test
    void shouldDoOneAfterTheOther() throws InterruptedException {
        final BlockingQueue<Integer> done = new LinkedBlockingQueue<>();
        for (int i = 0; i < 10; i++) {
            final int number = i;
            deferred.execute(() -> done.add(number));
        }
        for (int i = 0; i < 10; i++) {
            assertThat(done.poll(30, TimeUnit.SECONDS)).isEqualTo(i);
        }
        assertThat(errors.count()).isZero();
    }

    static Stream<Supplier<Throwable>> failures() {
        return Stream.of(
                () -> new OutOfMemoryError("planted"),
                () -> new AssertionError("planted"),
                () -> new IllegalStateException("planted"));
    }

    /** The service has ended by then, and the log has the failure: an uncaught exception would repeat it. */
    @Test
    void shouldReportAFailureOnce() {
        final List<Throwable> uncaught = new CopyOnWriteArrayList<>();
        final Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
        try {
            deferred.execute(() -> {
                throw new IllegalStateException("planted");
            });
            deferred.awaitEnd();
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
        assertThat(errors.count()).isEqualTo(1);
        assertThat(uncaught).isEmpty();
    }

    /** Otherwise other servers would wait forever for its tasks. */
    @ParameterizedTest
    @MethodSource("failures")
    void shouldEndTheServiceWhenAFailureEndsItsThread(Supplier<Throwable> failure) {
        errors.whenBroken(stopped::complete);
        final Throwable thrown = failure.get();
        deferred.execute(() -> {
            if (thrown instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) thrown;
        });
        deferred.awaitEnd();
        assertThat(stopped).isCompleted();
        assertThat(stopped.getNow(null)).hasCause(thrown);
    }
}
