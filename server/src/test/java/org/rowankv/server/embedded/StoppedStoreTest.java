package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.engine.Server;

/**
 * A store in which an agent fails permanently, or does not run: every wait ends, with the cause, and so does the close.
 */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class StoppedStoreTest {
    private static final String DIGEST = "digest.before-frame";

    @TempDir
    private Path dir;

    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    @AfterEach
    void shouldLeaveNoThread() {
        released.countDown();
        Chaos.reset();
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                        .extracting(Thread::getName)
                        .noneMatch(name -> name.startsWith("rowan-")));
    }

    private Consumer<EmbeddedSettings.Builder> settings() {
        return with -> {
            with.servers = 3;
            with.replicas = 3;
            with.dir = dir;
            with.shards = 3;
            with.workers = 1;
            with.capacityBytes = 4 << 20;
            with.maxMessage = 1024;
        };
    }

    static List<Supplier<Throwable>> failures() {
        return List.of(
                () -> new AssertionError("planted"),
                () -> new OutOfMemoryError("planted"),
                () -> new StackOverflowError("planted"),
                () -> new IllegalStateException("planted"));
    }

    private static void failAt(String point, Supplier<Throwable> failure) {
        Chaos.install(name -> {
            if (name.equals(point)) {
                final Throwable thrown = failure.get();
                if (thrown instanceof Error error) {
                    throw error;
                }
                throw (RuntimeException) thrown;
            }
        });
    }

    private static RowanException refusalOf(RowanClient client, int cache) {
        final RowanException[] refusal = new RowanException[1];
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            refusal[0] = catchThrowableOfType(RowanException.class, () -> client.put(cache, bytes("k"), bytes("v")));
            return refusal[0] != null;
        });
        return refusal[0];
    }

    @ParameterizedTest
    @MethodSource("failures")
    void shouldRefuseEverythingOnceAnAgentIsStoppedAndStillClose(Supplier<Throwable> failure) {
        final EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(settings()));
        final RowanClient client = Stores.client(cluster);
        final int cache = Stores.cache(client);
        client.put(cache, bytes("kept"), value("kept", 1, 3000));
        failAt(DIGEST, failure);
        final RowanException refusal = refusalOf(client, cache);
        assertThat(refusal.status()).isIn(Status.CLOSED, Status.OUTCOME_UNKNOWN);
        assertThat(refusal).hasMessageContaining("planted").hasCauseInstanceOf(AgentStoppedException.class);
        assertThatThrownBy(() -> client.get(cache, bytes("kept")))
                .isInstanceOf(RowanException.class)
                .hasMessageContaining("planted")
                .hasCauseInstanceOf(AgentStoppedException.class);
        assertThatThrownBy(() -> client.scan(cache, false).hasNext()).isInstanceOf(RowanException.class);
        cluster.close();
        Chaos.reset();
        try (EmbeddedCluster again = EmbeddedCluster.open(EmbeddedSettings.of(settings()))) {
            final RowanClient reader = Stores.client(again, 8);
            assertThat(numberOf("kept", reader.get(Stores.cache(reader), bytes("kept"))))
                    .isEqualTo(1);
            Stores.requireHealth(again);
        }
    }

    /** Holds the one worker context of its key's primary in the middle of a put, until that is released. */
    private CompletableFuture<Throwable> holdAWorker(RowanClient client, int cache, String point) {
        final CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        final Thread[] caller = new Thread[1];
        Chaos.install(name -> {
            if (name.equals(point) && Thread.currentThread() == caller[0] && held.getCount() > 0) {
                held.countDown();
                awaitQuietly(released);
            }
        });
        caller[0] = new Thread(() -> outcome.complete(
                org.assertj.core.api.Assertions.catchThrowable(() -> client.put(cache, bytes("k"), bytes("held")))));
        caller[0].start();
        awaitQuietly(held);
        return outcome;
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            if (!latch.await(40, TimeUnit.SECONDS)) {
                throw new AssertionError("no caller arrived");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldEndTheWaitForAWorkerWithTheCause() throws Exception {
        final EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(settings()));
        final RowanClient client = Stores.client(cluster);
        final int cache = Stores.cache(client);
        client.put(cache, bytes("k"), bytes("v"));
        final CompletableFuture<Throwable> first = holdAWorker(client, cache, "request.before-index");
        final RowanClient other = Stores.client(cluster, 8);
        final CompletableFuture<Throwable> second = new CompletableFuture<>();
        new Thread(() -> second.complete(
                        org.assertj.core.api.Assertions.catchThrowable(() -> other.put(cache, bytes("k"), bytes("w")))))
                .start();
        cluster.errors().broken("planted", new AssertionError("planted"));
        assertThat(second.get(30, TimeUnit.SECONDS))
                .isInstanceOf(RowanException.class)
                .hasCauseInstanceOf(AgentStoppedException.class);
        released.countDown();
        assertThat(first.get(30, TimeUnit.SECONDS))
                .satisfiesAnyOf(
                        failure -> assertThat(failure).isNull(),
                        failure -> assertThat(failure).isInstanceOf(RowanException.class));
        cluster.close();
    }

    /** No failure: the other caller just makes no progress. */
    @Test
    void shouldEndTheWaitForAWorkerAfterTheDeadline() throws Exception {
        final LeapClock clock = new LeapClock();
        try (EmbeddedCluster cluster =
                EmbeddedCluster.open(EmbeddedSettings.of(settings()), clock, new SplittableRandomSource(1))) {
            final RowanClient client = Stores.client(cluster);
            final int cache = Stores.cache(client);
            client.put(cache, bytes("k"), bytes("v"));
            final RowanClient other = Stores.client(cluster, 8);
            other.put(cache, bytes("k"), bytes("u")); // its session is open
            final CompletableFuture<Throwable> first = holdAWorker(client, cache, "request.before-index");
            final CompletableFuture<Throwable> second = new CompletableFuture<>();
            new Thread(() -> second.complete(org.assertj.core.api.Assertions.catchThrowable(
                            () -> other.put(cache, bytes("k"), bytes("w")))))
                    .start();
            await().atMost(Duration.ofSeconds(30)).until(() -> {
                clock.leap(TimeUnit.MINUTES.toNanos(10));
                return second.isDone();
            });
            assertThat(second.get()).isInstanceOf(RowanException.class);
            assertThat(((RowanException) second.get()).status()).isEqualTo(Status.UNREACHABLE);
            released.countDown();
            assertThat(first.get(30, TimeUnit.SECONDS)).isNull();
            other.put(cache, bytes("k"), bytes("x"));
            assertThat(client.get(cache, bytes("k"))).isEqualTo(bytes("x"));
            Stores.requireHealth(cluster);
        }
    }

    private static EmbeddedContext context(LeapClock clock, Scheduling scheduling) {
        final EmbeddedContext usual = EmbeddedContext.machine();
        return new EmbeddedContext(
                server -> clock,
                usual.random(),
                scheduling,
                usual.fabric(),
                null,
                usual.areaMachine(),
                usual.tuning(),
                1,
                true);
    }

    @Test
    void shouldCloseThoughItsAgentsGetNoTurn() throws Exception {
        final LeapClock clock = new LeapClock();
        final SleepyServers scheduling = new SleepyServers();
        final EmbeddedCluster cluster =
                EmbeddedCluster.open(EmbeddedSettings.of(settings()), context(clock, scheduling));
        final RowanClient client = Stores.client(cluster);
        final int cache = Stores.cache(client);
        client.put(cache, bytes("k"), value("k", 1, 3000));
        scheduling.sleep();
        client.put(cache, bytes("k"), value("k", 2, 3000));
        final CompletableFuture<Void> closing = CompletableFuture.runAsync(cluster::close);
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            clock.leap(TimeUnit.MINUTES.toNanos(10));
            return closing.isDone();
        });
        closing.get();
        try (EmbeddedCluster again = EmbeddedCluster.open(EmbeddedSettings.of(settings()))) {
            final RowanClient reader = Stores.client(again, 8);
            assertThat(numberOf("k", reader.get(Stores.cache(reader), bytes("k"))))
                    .isEqualTo(2);
            Stores.requireHealth(again);
        }
    }

    /** Its sender has acknowledged it: a replica without it would differ, undetected. */
    @ParameterizedTest
    @ValueSource(ints = {100, 3000})
    void shouldStopRatherThanPassOverWhatLandedDamaged(int length) {
        final SleepyServers scheduling = new SleepyServers();
        final EmbeddedCluster cluster =
                EmbeddedCluster.open(EmbeddedSettings.of(settings()), context(new LeapClock(), scheduling));
        final RowanClient client = Stores.client(cluster);
        final int cache = Stores.cache(client);
        client.put(cache, bytes("k"), value("k", 1, length));
        cluster.awaitDigested();
        scheduling.sleep();
        client.put(cache, bytes("k"), value("k", 2, length));
        final Request get = new Request().get(cache, bytes("k"), 0, 1);
        client.execute(get);
        final int backup = (cluster.configuration().shard(get.shard()).primary() + 1) % 3;
        LandedDamage.flip(cluster.servers().get(backup), Arrays.copyOf(value("k", 2, length), 64));
        scheduling.awake();
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            cluster.servers().forEach(Server::wakeUp);
            return cluster.servers().get(backup).isStopped();
        });
        assertThatThrownBy(() -> client.get(cache, bytes("k")))
                .isInstanceOf(RowanException.class)
                .hasMessageContaining("landed");
        cluster.close();
        try (EmbeddedCluster again = EmbeddedCluster.open(EmbeddedSettings.of(settings()))) {
            final RowanClient reader = Stores.client(again, 8);
            await().atMost(Duration.ofSeconds(30)).until(() -> again.joinsCompleted() == 1);
            assertThat(numberOf("k", reader.get(Stores.cache(reader), bytes("k"))))
                    .isEqualTo(2);
            Stores.requireHealth(again);
        }
    }

    /** A segment full of a large entry's blocks needs the backups' agents, which post segments. */
    @Test
    void shouldSayThatTheOutcomeIsUnknownWhenBackupsDoNotTakeWhatWasBegun() {
        final LeapClock clock = new LeapClock();
        final SleepyServers scheduling = new SleepyServers();
        final EmbeddedCluster cluster =
                EmbeddedCluster.open(EmbeddedSettings.of(settings()), context(clock, scheduling));
        final RowanClient client = Stores.client(cluster);
        final int cache = Stores.cache(client);
        client.put(cache, bytes("k"), value("k", 1, 3000));
        scheduling.sleep();
        final CompletableFuture<RowanException> failing = CompletableFuture.supplyAsync(() -> {
            final RowanException[] failure = new RowanException[1];
            for (int i = 0; failure[0] == null; i++) {
                final String key = "k" + i % 10;
                failure[0] =
                        catchThrowableOfType(RowanException.class, () -> client.put(cache, bytes(key), new byte[3000]));
            }
            return failure[0];
        });
        await().atMost(Duration.ofSeconds(40)).until(() -> {
            clock.leap(TimeUnit.MINUTES.toNanos(10));
            return failing.isDone();
        });
        assertThat(failing.join().status()).isIn(Status.OUTCOME_UNKNOWN, Status.FULL);
        scheduling.awake();
        cluster.close();
    }

    @Test
    void shouldRefuseARequestInTheTermsOfTheDriver() {
        final EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(settings()));
        cluster.errors().broken("planted", new AssertionError("planted"));
        assertThatThrownBy(() -> cluster.session().call(new Request().clear(1, 0)))
                .isInstanceOf(RowanException.class)
                .hasRootCauseInstanceOf(AssertionError.class);
        cluster.close();
    }
}
