package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/** A server reads the limits of the caches at each start, from a configuration store that may be unreachable. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class LimitsAfterAStartTest {
    private static final int LIMIT = 10;

    @TempDir
    Path dir;

    @Test
    void shouldKeepLimitsOnceTheStoreIsBackThatWasAwayAtTheStart() {
        final AwayStore store = new AwayStore();
        try (ClusterBed bed = new ClusterBed(dir, 1, 1, 8 << 20, store).startAll()) {
            final ClusterBed.Member member = bed.members.get(0);
            final int cache = member.catalogue.create("limited", new byte[0]).id();
            assertThat(member.catalogue.limit("limited", new CacheLimit(LIMIT, CacheLimit.NO_LIMIT)))
                    .isTrue();
            member.stop();

            member.beforeServing = () -> store.away = true;
            final long failuresBefore = store.failures.get();
            bed.startAll();
            // Its thread and its deferred tasks access the store: each has met the failure.
            await().until(() -> member.errors.distinct().stream()
                    .anyMatch(error -> error.where().equals("the limits of the caches")));
            assertThat(store.failures.get()).isGreaterThan(failuresBefore);
            store.away = false;

            final RowanClient client = bed.client(1);
            await().atMost(Duration.ofSeconds(60)).until(() -> {
                for (int number = 0; number < 2 * LIMIT; number++) {
                    final byte[] key = ("key " + number).getBytes(StandardCharsets.UTF_8);
                    final Request put = new Request().put(cache, key, 0, key.length, key, 0, key.length);
                    client.execute(put);
                    assertThat(put.status()).isEqualTo(Status.OK);
                }
                return bed.server(0).limits().evictions(cache) > 0;
            });
        }
    }
}
