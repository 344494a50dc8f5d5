package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.Chaos;

/**
 * Errors strike the senders of one large entry repeatedly. Duplicate blocks cannot be cleaned before the entry is on
 * all replicas, so they must not fill a backup: that would block the store.
 */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class RepeatedErrorsTest {
    private static final int VALUE = 60_000;
    private static final int MESSAGE = 1024;
    /** Less than the number of the entry's messages. */
    private static final int MESSAGES_BETWEEN_ERRORS = 20;

    private static final int MOST_ERRORS = 60;

    @AfterEach
    void reset() {
        Chaos.reset();
    }

    private static long landedBytes(EmbeddedCluster cluster) {
        cluster.awaitDigested();
        return cluster.statistics().stream()
                .mapToLong(server -> server.bLogBytes())
                .sum();
    }

    /** Throws in this thread after every that many passes of the point. */
    private static AtomicInteger strikeAgainAndAgain(String point) {
        final Thread victim = Thread.currentThread();
        final AtomicInteger errors = new AtomicInteger();
        final AtomicInteger hits = new AtomicInteger();
        Chaos.install(name -> {
            if (Thread.currentThread() == victim
                    && name.equals(point)
                    && hits.incrementAndGet() % MESSAGES_BETWEEN_ERRORS == 0
                    && errors.incrementAndGet() <= MOST_ERRORS) {
                throw new StackOverflowError("injected");
            }
        });
        return errors;
    }

    /** A key of the same shard. The hash differs from store to store, so no fixed key would do. */
    private static String keyBeside(RowanClient client, int cache, String key) {
        return Stream.iterate(0, i -> i + 1)
                .map(i -> "small" + i)
                .filter(other -> LandedDamage.shardOf(client, cache, other) == LandedDamage.shardOf(client, cache, key))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "local.before-read",
                "local.after-hazard",
                "local.after-reserve",
                "local.mid-copy",
                "local.before-publish",
                "local.after-publish"
            })
    void shouldNotSendWhatHasLandedOnceMore(String point) {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = 2;
            with.replicas = 2;
            with.shards = 2;
            with.workers = 1;
            with.capacityBytes = 4 << 20;
            with.maxMessage = MESSAGE;
        });
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings)) {
            final RowanClient client = Stores.client(cluster, 1);
            final int cache = Stores.cache(client);
            client.put(cache, bytes("k"), value("k", 1, VALUE));
            final String small = keyBeside(client, cache, "k");
            final long once = landedBytes(cluster);

            final AtomicInteger errors = strikeAgainAndAgain(point);
            Throwable failure = catchThrowable(() -> client.put(cache, bytes("k"), value("k", 2, VALUE)));
            while (failure != null) { // the next call to the shard completes the previous one
                failure = catchThrowable(() -> client.put(cache, bytes(small), value(small, 1, 100)));
            }
            Chaos.reset();

            assertThat(errors.get()).isPositive();
            assertThat(numberOf("k", client.get(cache, bytes("k")))).isEqualTo(2);
            assertThat(landedBytes(cluster) - once).isLessThan(2 * once);
            Stores.requireHealth(cluster);
        }
    }
}
