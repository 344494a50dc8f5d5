package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.engine.ServerStatistics;

/** A replacement takes no space beyond the account: a full store stays within its limit, and can be emptied. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class OverwriteSpaceTest {
    private static final long HOUR_MS = 3_600_000;
    private static final int SHARDS = 3;
    private static final int SEGMENT = 64 << 10;

    private static EmbeddedCluster open(int servers, int replicas) {
        return EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.shards = SHARDS;
            with.workers = 4;
            with.segmentBytes = SEGMENT;
            with.capacityBytes = EmbeddedSettings.minimumCapacity(replicas, 4, SEGMENT);
        }));
    }

    /** Stores objects until space is exhausted; returns their versions. */
    private static Map<String, Long> fill(RowanClient client, int cache, int length) {
        final Map<String, Long> stored = new HashMap<>();
        final Request put = new Request();
        while (true) {
            final String key = String.format("k%07d", stored.size());
            client.execute(put.put(cache, bytes(key), 0, key.length(), value(key, 1, length), 0, length)
                    .ttl(HOUR_MS, HOUR_MS));
            if (put.status() == Status.FULL) {
                return stored;
            }
            assertThat(put.status()).isEqualTo(Status.OK);
            stored.put(key, put.version());
        }
    }

    /** Tombstones may exceed the limit a little until they are cleaned; openings of sessions have their own reserve. */
    private static void requireWithinLimit(EmbeddedCluster cluster) {
        cluster.awaitDigested();
        for (ServerStatistics each : cluster.statistics()) {
            assertThat(each.spaceAvailable()).as("of %d", each.spaceLimit()).isGreaterThan(-each.spaceLimit() / 10);
        }
    }

    private static void empty(EmbeddedCluster cluster, int cache, Map<String, Long> stored) {
        try (RowanClient late = Stores.client(cluster, 99)) {
            for (String key : stored.keySet()) {
                assertThat(late.remove(cache, bytes(key)).existed()).isTrue();
            }
            late.put(cache, bytes("new"), value("new", 1, 1000));
        }
        Stores.requireHealth(cluster);
    }

    /** An entry that changes a small object's lifetime is longer than the one that stored it. */
    @ParameterizedTest
    @CsvSource({"1,1,false", "3,3,false", "1,1,true", "3,3,true"})
    void shouldNotGrowBeyondTheLimitByTouches(int servers, int replicas, boolean byReads) {
        try (EmbeddedCluster cluster = open(servers, replicas)) {
            // An embedded store without sessions, or as over a network. The entry that stores an object fills its
            // strides.
            final RowanClient client = byReads
                    ? new RowanClient(cluster.session(), SystemClock.INSTANCE, new SplittableRandomSource(7))
                    : Stores.client(cluster);
            final int cache = Stores.cache(client);
            final int entry = byReads ? 56 : 72;
            final Map<String, Long> stored = fill(client, cache, 128 - entry - 8);
            int touched = 0;
            int refused = 0;
            final Request request = new Request();
            for (Map.Entry<String, Long> each : stored.entrySet()) {
                final byte[] key = bytes(each.getKey());
                if (byReads) {
                    client.execute(request.get(cache, key, 0, key.length).accessTtl(2 * HOUR_MS));
                    assertThat(request.status()).isEqualTo(Status.OK);
                    assertThat(Stores.numberOf(each.getKey(), request.resultBytes()))
                            .isOne();
                } else {
                    client.execute(request.touch(cache, key, 0, key.length, each.getValue(), 2 * HOUR_MS));
                }
                touched += ResultBits.has(request.bits(), ResultBits.TOUCHED) ? 1 : 0;
                refused += request.status() == Status.FULL ? 1 : 0;
            }
            if (byReads) {
                assertThat(refused).isZero();
            } else {
                assertThat(touched + refused).isEqualTo(stored.size());
            }
            requireWithinLimit(cluster);
            empty(cluster, cache, stored);
        }
    }

    /**
     * Each entry is kept for the completion of its own session: as many as there are sessions, however long they are.
     */
    @ParameterizedTest
    @CsvSource({"1,1", "3,3"})
    void shouldNotFillTheLogWithTouchesOfManySessions(int servers, int replicas) {
        try (EmbeddedCluster cluster = open(servers, replicas)) {
            final RowanClient client = Stores.client(cluster);
            final int cache = Stores.cache(client);
            final Map<String, Long> stored = fill(client, cache, 30_000);
            final List<String> keys = new ArrayList<>(stored.keySet());
            final Random random = new Random(3);
            final Map<Status, Integer> answers = new HashMap<>();
            final Request find = new Request();
            final Request touch = new Request();
            for (int i = 0; i < 400; i++) {
                final byte[] key = bytes(keys.get(i % keys.size()));
                client.execute(find.get(cache, key, 0, key.length).requestValue(false));
                final long session = random.nextLong();
                assertThat(Stores.openSession(cluster, find.shard(), session).status())
                        .isEqualTo(Status.OK);
                touch.touch(cache, key, 0, key.length, find.version(), HOUR_MS + i);
                touch.placed(find.hash(), find.shard());
                touch.identified(session, 1, 0);
                cluster.session().call(touch);
                answers.merge(touch.status(), 1, Integer::sum);
            }
            assertThat(answers.keySet()).isSubsetOf(Status.OK, Status.FULL);
            requireWithinLimit(cluster);
            empty(cluster, cache, stored);
        }
    }

    /** Each session may request the completion of its overwrite before the last one. */
    @ParameterizedTest
    @CsvSource({"1,1", "3,3"})
    void shouldNotFillTheLogWithTwoOverwritesOfEachSession(int servers, int replicas) {
        try (EmbeddedCluster cluster = open(servers, replicas)) {
            final RowanClient client = Stores.client(cluster);
            final int cache = Stores.cache(client);
            final Map<String, Long> stored = fill(client, cache, 30_000);
            final Random random = new Random(4);
            final Request request = new Request();
            for (String name : stored.keySet()) {
                final byte[] key = bytes(name);
                final long session = random.nextLong();
                for (int i = 0; i < 2; i++) {
                    client.execute(request.get(cache, key, 0, key.length).requestValue(false));
                    final long hash = request.hash();
                    final int shard = request.shard();
                    assertThat(Stores.openSession(cluster, shard, session).status())
                            .isEqualTo(Status.OK);
                    request.put(cache, key, 0, key.length, value(name, i, 29_000), 0, 29_000);
                    request.placed(hash, shard);
                    request.identified(session, i + 1, i);
                    cluster.session().call(request);
                    assertThat(request.status()).isIn(Status.OK, Status.FULL);
                }
            }
            requireWithinLimit(cluster);
            empty(cluster, cache, stored);
        }
    }

    /** A session with many requests in flight may request the completion of each: all their entries are kept. */
    @ParameterizedTest
    @CsvSource({"1,1", "3,3"})
    void shouldNotFillTheLogWithOverwritesOfOneSession(int servers, int replicas) {
        try (EmbeddedCluster cluster = open(servers, replicas)) {
            final RowanClient client = Stores.client(cluster);
            final int cache = Stores.cache(client);
            final Map<String, Long> stored = fill(client, cache, 30_000);
            final String name = stored.keySet().iterator().next();
            final byte[] key = bytes(name);
            final Request find = new Request();
            client.execute(find.get(cache, key, 0, key.length).requestValue(false));
            assertThat(Stores.openSession(cluster, find.shard(), 5).status()).isEqualTo(Status.OK);
            final Map<Status, Integer> answers = new HashMap<>();
            final Request put = new Request();
            for (int i = 0; i < 400; i++) {
                put.put(cache, key, 0, key.length, value(name, i, 29_000), 0, 29_000);
                put.placed(find.hash(), find.shard());
                put.identified(5, i + 1, i);
                cluster.session().call(put);
                answers.merge(put.status(), 1, Integer::sum);
            }
            assertThat(answers.keySet()).isSubsetOf(Status.OK, Status.FULL);
            requireWithinLimit(cluster);
            empty(cluster, cache, stored);
        }
    }
}
