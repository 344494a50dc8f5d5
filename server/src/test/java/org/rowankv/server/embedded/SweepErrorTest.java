package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.server.retention.ExpirySweepAgent;

/** Errors that strike the expiry sweep in the middle of an object's end: it completes or drops that, and continues. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@Tag("chaos")
final class SweepErrorTest {
    private static final int OBJECTS = 120;

    private final WallClock clock = new WallClock();

    @AfterEach
    void reset() {
        Chaos.reset();
    }

    private static boolean inSweep() {
        return StackWalker.getInstance()
                .walk(frames ->
                        frames.anyMatch(frame -> frame.getClassName().equals(ExpirySweepAgent.class.getName())));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "request.after-version",
                "request.after-tlog",
                "request.before-index",
                "local.after-hazard",
                "local.after-reserve",
                "local.mid-copy",
                "local.before-publish",
                "local.after-publish"
            })
    void shouldEndEverythingAllTheSame(String point) {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = 3;
            with.replicas = 3;
            with.shards = 6;
            with.workers = 4;
            with.capacityBytes = 4 << 20;
        });
        final AtomicInteger hits = new AtomicInteger();
        final AtomicInteger struck = new AtomicInteger();
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings, clock, new SplittableRandomSource(1))) {
            try (RowanClient client = Stores.client(cluster)) {
                final int cache = Stores.cache(client);
                for (int i = 0; i < OBJECTS; i++) {
                    final String key = "k" + i;
                    final Request request = new Request()
                            .put(cache, bytes(key), 0, key.length(), value(key, 1, 100), 0, 100)
                            .ttl(1000, 1000);
                    client.execute(request);
                    assertThat(request.status()).isEqualTo(Status.OK);
                }
            }
            Chaos.install(name -> {
                if (name.equals(point) && inSweep() && hits.incrementAndGet() % 20 == 0) {
                    struck.incrementAndGet();
                    throw new OutOfMemoryError("injected");
                }
            });
            clock.jump(1000 + ExpirySweepAgent.GRACE_MS + 1000);
            await().atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofMillis(5))
                    .untilAsserted(() -> {
                        clock.hurry();
                        assertThat(cluster.statistics().stream()
                                        .mapToLong(ServerStatistics::indexEntries)
                                        .sum())
                                .isZero();
                    });
            Chaos.reset();
            assertThat(struck.get()).as("times that the error struck").isPositive();
            Stores.requireAgreement(cluster);
            Stores.requireExactSpace(cluster);
        }
    }
}
