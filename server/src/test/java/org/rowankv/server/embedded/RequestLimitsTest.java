package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rowankv.server.embedded.Stores.bytes;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;

/** Requests at the limits of an entry, and invalid settings. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class RequestLimitsTest {
    private static final int SEGMENT = 128 << 10;

    private static EmbeddedCluster open(int servers, int replicas) {
        return EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.shards = servers;
            with.workers = 2;
            with.capacityBytes = 8 << 20;
            with.segmentBytes = SEGMENT;
        }));
    }

    /** Without parts, so that the limit of an entry is that of a value. */
    private static RowanClient client(EmbeddedCluster cluster) {
        final RowanClient client = Stores.client(cluster);
        client.partedValues().limit(0);
        return client;
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,3"})
    void shouldTakeEmptyAndLongKeysAndValues(int servers, int replicas) {
        try (EmbeddedCluster cluster = open(servers, replicas);
                RowanClient client = client(cluster)) {
            final int cache = Stores.cache(client);
            final byte[] empty = new byte[0];
            final byte[] longKey = new byte[60_000];
            Arrays.fill(longKey, (byte) 7);
            final byte[] almost = longKey.clone();
            almost[59_999] = 8;
            for (byte[] key : new byte[][] {empty, {0}, {0, 0}, longKey, almost}) {
                assertThat(client.get(cache, key)).isNull();
                client.put(cache, key, empty);
                assertThat(client.get(cache, key)).isEmpty();
                client.put(cache, key, key);
                assertThat(client.get(cache, key)).isEqualTo(key);
            }
            assertThat(client.getAndRemove(cache, longKey).previousValue()).isEqualTo(longKey);
            assertThat(client.get(cache, longKey)).isNull();
            assertThat(client.get(cache, almost)).isEqualTo(almost);
            assertThat(client.remove(cache, empty).existed()).isTrue();
            assertThat(client.get(cache, new byte[] {0})).isEqualTo(new byte[] {0});
            Stores.requireHealth(cluster);
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,3"})
    void shouldRefuseWhatIsLargerThanASegmentAndWriteNothing(int servers, int replicas) {
        try (EmbeddedCluster cluster = open(servers, replicas);
                RowanClient client = client(cluster)) {
            final int cache = Stores.cache(client);
            client.put(cache, bytes("k"), bytes("v"));
            for (int length : new int[] {SEGMENT - 20, SEGMENT, SEGMENT + 1, 3 * SEGMENT, 20 << 20}) {
                final byte[] large = new byte[length];
                assertThatThrownBy(() -> client.put(cache, bytes("k"), large))
                        .isInstanceOfSatisfying(
                                RowanException.class,
                                e -> assertThat(e.status()).isEqualTo(Status.TOO_LARGE))
                        .hasMessageContaining("" + (length + 1));
                assertThatThrownBy(() -> client.put(cache, large, bytes("v")))
                        .isInstanceOfSatisfying(
                                RowanException.class,
                                e -> assertThat(e.status()).isEqualTo(Status.TOO_LARGE));
                assertThat(client.get(cache, large)).isNull();
                assertThat(client.remove(cache, large).existed()).isFalse();
            }
            assertThat(client.get(cache, bytes("k"))).isEqualTo(bytes("v"));
            Stores.requireHealth(cluster);
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,3"})
    void shouldDoEverythingWithTheLargestObject(int servers, int replicas) {
        try (EmbeddedCluster cluster = open(servers, replicas);
                RowanClient client = client(cluster)) {
            final int cache = Stores.cache(client);
            int length = SEGMENT;
            while (!isTaken(client, cache, length)) {
                length--;
            }
            assertThat(length).isGreaterThan(SEGMENT - 256);
            final byte[] largest = new byte[length];
            final byte[] key = bytes("k");
            final long version = client.getVersioned(cache, key).version();
            final Request touch = new Request().touch(cache, key, 0, 1, version, 1_000_000);
            client.execute(touch);
            assertThat(touch.status()).isEqualTo(Status.OK);
            final Request access = new Request().get(cache, key, 0, 1).accessTtl(2_000_000);
            client.execute(access);
            assertThat(access.status()).isEqualTo(Status.OK);
            assertThat(access.has(ResultBits.TOUCHED)).isTrue();
            assertThat(client.getAndRemove(cache, key).previousValue()).isEqualTo(largest);
            assertThat(client.get(cache, key)).isNull();
            Stores.requireHealth(cluster);
        }
    }

    private static boolean isTaken(RowanClient client, int cache, int length) {
        final Request put = new Request().put(cache, bytes("k"), 0, 1, new byte[length], 0, length);
        client.execute(put);
        assertThat(put.status()).isIn(Status.OK, Status.TOO_LARGE);
        return put.status() == Status.OK;
    }

    @Test
    void shouldRefuseAnUnknownShard() {
        try (EmbeddedCluster cluster = open(1, 1)) {
            for (int shard : new int[] {-1, 1, Integer.MAX_VALUE}) {
                final Request request = new Request().clear(1, shard);
                cluster.session().call(request);
                assertThat(request.status()).isEqualTo(Status.BAD_REQUEST);
            }
        }
    }

    @Test
    void shouldAnswerConditionsOnNothing() {
        try (EmbeddedCluster cluster = open(1, 1);
                RowanClient client = client(cluster)) {
            final int cache = Stores.cache(client);
            for (Condition condition : new Condition[] {Condition.IF_PRESENT, Condition.IF_VERSION}) {
                final Request put = new Request()
                        .put(cache, bytes("k"), 0, 1, bytes("v"), 0, 1)
                        .when(condition, 0);
                client.execute(put);
                assertThat(put.status()).isEqualTo(Status.NOT_FOUND);
            }
            assertThat(client.get(cache, bytes("k"))).isNull();
        }
    }

    @Test
    void shouldNameTheLeastCapacityAndItsFormula() {
        final Consumer<EmbeddedSettings.Builder> builder = with -> {
            with.servers = 3;
            with.replicas = 3;
            with.workers = 4;
            with.segmentBytes = 64 << 10;
        };
        final long least = EmbeddedSettings.minimumCapacity(3, 4, 64 << 10);
        assertThatThrownBy(() -> EmbeddedSettings.of(builder.andThen(with -> with.capacityBytes = least - 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("" + least, "workers", "posted", "" + (least - 1));
        try (EmbeddedCluster cluster =
                        EmbeddedCluster.open(EmbeddedSettings.of(builder.andThen(with -> with.capacityBytes = least)));
                RowanClient client = client(cluster)) {
            final int cache = Stores.cache(client);
            for (int i = 0; i < 20_000; i++) {
                client.put(cache, bytes("k" + i % 100), new byte[500]);
            }
            Stores.requireHealth(cluster);
        }
    }

    @Test
    void shouldRefuseSettingsThatCannotWork() {
        assertThatThrownBy(() -> EmbeddedSettings.of(with -> with.servers = 0)).hasMessageContaining("servers");
        assertThatThrownBy(() -> EmbeddedSettings.of(with -> with.servers = 65)).hasMessageContaining("servers");
        assertThatThrownBy(() -> EmbeddedSettings.of(with -> with.replicas = 2)).hasMessageContaining("replicas");
        assertThatThrownBy(() -> EmbeddedSettings.of(with -> with.shards = -1)).hasMessageContaining("shards");
        assertThatThrownBy(() -> EmbeddedSettings.of(with -> with.workers = -1)).hasMessageContaining("workers");
        assertThatThrownBy(() -> EmbeddedSettings.of(with -> with.maxMessage = 100))
                .hasMessageContaining("max-message");
        assertThatThrownBy(() -> EmbeddedSettings.of(with -> with.segmentBytes = 100_000))
                .hasMessageContaining("segment");
        assertThatThrownBy(() -> EmbeddedSettings.of(with -> with.capacityBytes = -5))
                .hasMessageContaining("capacity");
    }
}
