package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.TestScale;

/**
 * Errors that strike a caller in the middle of its own operation: others complete or drop the begun mutation, on all
 * replicas alike, and no lock stays held.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@Tag("chaos")
final class CallerErrorTest {
    private static final List<String> POINTS = List.of(
            "request.after-version",
            "request.after-tlog",
            "request.before-index",
            "request.before-reply",
            "local.after-read",
            "local.after-name",
            "local.after-permission",
            "local.after-help",
            "local.after-hazard",
            "local.after-reserve",
            "local.after-word",
            "local.mid-copy",
            "local.before-publish",
            "local.after-publish");

    private static final List<Supplier<Throwable>> ERRORS = List.of(
            () -> new StackOverflowError("injected"),
            () -> new OutOfMemoryError("injected"),
            PossibleValues.InjectedException::new);

    @TempDir
    private Path dir;

    private EmbeddedSettings settings(int workers) {
        return EmbeddedSettings.of(with -> {
            with.servers = 3;
            with.replicas = 3;
            with.dir = dir;
            with.shards = 6;
            with.workers = workers;
            with.capacityBytes = 4 << 20;
            with.maxMessage = 1024;
        });
    }

    @AfterEach
    void reset() {
        Chaos.reset();
    }

    static Stream<Arguments> everyError() {
        return POINTS.stream()
                .flatMap(point -> ERRORS.stream()
                        .flatMap(error -> Stream.of(40, 5000).map(length -> Arguments.of(point, error, length))));
    }

    /** Each point with each length, and with one error after the other. */
    static Stream<Arguments> errors() {
        final AtomicInteger number = new AtomicInteger();
        return POINTS.stream()
                .flatMap(point -> Stream.of(40, 5000)
                        .map(length ->
                                Arguments.of(point, ERRORS.get(number.getAndIncrement() % ERRORS.size()), length)));
    }

    private static void sneakyThrow(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) failure;
    }

    /** Throws when this thread reaches the point for the hit-th time. */
    private static void strike(String point, Supplier<Throwable> error, int hit) {
        final Thread victim = Thread.currentThread();
        final AtomicInteger hits = new AtomicInteger();
        Chaos.install(name -> {
            if (Thread.currentThread() == victim && name.equals(point) && hits.incrementAndGet() == hit) {
                sneakyThrow(error.get());
            }
        });
    }

    @ParameterizedTest
    @MethodSource("everyError")
    @Tag("long")
    void shouldTakeEffectEverywhereOrNowhereWhateverStrikes(String point, Supplier<Throwable> error, int length) {
        shouldTakeEffectEverywhereOrNowhere(point, error, length);
    }

    @ParameterizedTest
    @MethodSource("errors")
    void shouldTakeEffectEverywhereOrNowhere(String point, Supplier<Throwable> error, int length) {
        int struck = 0;
        for (int hit = 1; hit <= TestScale.of(2, 3); hit++) {
            final String key = "k" + hit;
            try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(4))) {
                final RowanClient client = Stores.client(cluster, hit);
                final int cache = Stores.cache(client);
                client.put(cache, bytes(key), value(key, 1, length));
                strike(point, error, hit);
                final Throwable failure = catchThrowable(() -> client.put(cache, bytes(key), value(key, 2, length)));
                Chaos.reset();
                struck += failure == null ? 0 : 1;
                if (failure == null) {
                    assertThat(numberOf(key, client.get(cache, bytes(key)))).isEqualTo(2);
                }
            }
            // Closed with the caller's unfinished work.
            try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(4))) {
                final RowanClient client = Stores.client(cluster, hit + 100);
                final int cache = Stores.cache(client);
                assertThat(numberOf(key, client.get(cache, bytes(key)))).isIn(1L, 2L);
                Stores.requireHealth(cluster);
            }
        }
        assertThat(struck).as("times that the error struck").isPositive();
    }

    /** All blocks of a large entry may have landed and been assembled before the next caller sends them again. */
    @Test
    void shouldAccountForBlocksThatLandTwice() {
        for (int hit = 1; hit <= 14; hit++) {
            try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(1))) {
                try (RowanClient client = Stores.client(cluster, hit)) {
                    final int cache = Stores.cache(client);
                    client.put(cache, bytes("k"), value("k", 0, 10)); // opens the session
                    strike("local.after-publish", PossibleValues.InjectedException::new, hit);
                    final Throwable failure = catchThrowable(() -> client.put(cache, bytes("k"), value("k", 1, 5000)));
                    Chaos.reset();
                    cluster.awaitDigested();
                    client.put(cache, bytes("other"), value("other", 1, 10));
                    assertThat(failure == null)
                            .as("whether the call succeeded at hit %d", hit)
                            .isEqualTo(hit > 12);
                }
                Stores.requireHealth(cluster);
                Stores.requireExactSpace(cluster);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("everyError")
    @Tag("long")
    void shouldLeaveNothingLockedWhateverStrikes(String point, Supplier<Throwable> error, int length) throws Exception {
        shouldLeaveNothingLocked(point, error, length);
    }

    @ParameterizedTest
    @MethodSource("errors")
    void shouldLeaveNothingLocked(String point, Supplier<Throwable> error, int length) throws Exception {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(2))) {
            final RowanClient client = Stores.client(cluster);
            final int cache = Stores.cache(client);
            int struck = 0;
            for (int i = 1; i <= 6; i++) {
                final String key = "k" + i % 3;
                strike(point, error, 1 + i % 2);
                final Throwable failure = catchThrowable(() -> client.put(cache, bytes(key), value(key, 1, length)));
                struck += failure == null ? 0 : 1;
                Chaos.reset();
                final long number = i + 10L;
                final Thread other = new Thread(() -> client.put(cache, bytes(key), value(key, number, length)));
                other.start();
                other.join();
                assertThat(numberOf(key, client.get(cache, bytes(key)))).isEqualTo(number);
                client.clear(cache);
                assertThat(client.get(cache, bytes(key))).isNull();
            }
            assertThat(struck).as("times that the error struck").isPositive();
            Stores.requireHealth(cluster);
        }
    }

    /** The error at that point: an error of the JVM stops an agent, so agents meet exceptions only. */
    private static Throwable anyFor(Thread thread, Random faults) {
        return thread.getName().startsWith("rowan-")
                ? new PossibleValues.InjectedException()
                : ERRORS.get(faults.nextInt(ERRORS.size())).get();
    }

    @Test
    void shouldGoOnUnderErrorsEverywhere() throws Exception {
        final List<PossibleValues> values = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            values.add(new PossibleValues("t" + t + "-", 30, 3000));
        }
        for (int round = 0; round < 3; round++) {
            try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(3))) {
                final RowanClient client = Stores.client(cluster, round);
                final int cache = Stores.cache(client);
                for (PossibleValues of : values) {
                    of.requirePossible(client, cache);
                }
                final Random faults = new Random(round);
                Chaos.install(name -> {
                    synchronized (faults) {
                        if (faults.nextInt(400) == 0) {
                            sneakyThrow(anyFor(Thread.currentThread(), faults));
                        }
                    }
                });
                final List<Thread> callers = new ArrayList<>();
                final List<Throwable> failures = new ArrayList<>();
                for (int t = 0; t < values.size(); t++) {
                    final PossibleValues of = values.get(t);
                    final Random random = new Random(t + 31 * round);
                    final Thread caller = new Thread(() -> {
                        for (int i = 0; i < TestScale.of(1_500, 3_000); i++) {
                            of.operate(client, cache, random);
                        }
                    });
                    caller.setUncaughtExceptionHandler((thread, failure) -> {
                        synchronized (failures) {
                            failures.add(failure);
                        }
                    });
                    caller.start();
                    callers.add(caller);
                }
                for (Thread caller : callers) {
                    caller.join();
                }
                Chaos.reset();
                assertThat(failures).isEmpty();
                for (PossibleValues of : values) {
                    assertThat(of.errors).isPositive();
                }
            }
        }
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(3))) {
            final RowanClient client = Stores.client(cluster, 99);
            final int cache = Stores.cache(client);
            for (PossibleValues of : values) {
                of.requirePossible(client, cache);
            }
            Stores.requireHealth(cluster);
        }
    }
}
