package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.engine.Server;
import org.rowankv.topology.ShardAssignment;

/** An embedded store with short segments, so that values of a megabyte have many parts, and a look at its parts. */
final class PartedStore implements AutoCloseable {
    static final int SEGMENT = 64 << 10;

    final LeapClock clock = new LeapClock();
    final EmbeddedCluster cluster;
    final RowanClient client;
    final int cache;

    /** @param withIds as over a network; else as in process */
    PartedStore(int servers, int replicas, boolean withIds, @Nullable Path dir) {
        cluster = EmbeddedCluster.open(
                EmbeddedSettings.of(with -> {
                    with.servers = servers;
                    with.replicas = replicas;
                    with.shards = 4;
                    with.capacityBytes = 32L << 20;
                    with.segmentBytes = SEGMENT;
                    with.workers = 4;
                    with.dir = dir;
                }),
                clock,
                new SplittableRandomSource(1));
        final RandomSource random = new SplittableRandomSource(System.nanoTime());
        client = withIds
                ? Stores.client(cluster, System.nanoTime())
                : new RowanClient(cluster.session(), SystemClock.INSTANCE, random);
        cache = Stores.cache(client);
    }

    /** Parts in the indexes of the primaries. */
    long parts() {
        long parts = 0;
        for (int shard = 0; shard < cluster.configuration().shardCount(); shard++) {
            parts += primaryOf(shard).replicas().get(shard).counts().parts();
        }
        return parts;
    }

    private Server primaryOf(int shard) {
        final ShardAssignment assignment = cluster.configuration().shard(shard);
        return cluster.servers().get(assignment.primary());
    }

    /** Objects of the cache as its limits count them. */
    long objects() {
        long objects = 0;
        for (int shard = 0; shard < cluster.configuration().shardCount(); shard++) {
            objects += primaryOf(shard).replicas().get(shard).counts().objects(cache);
        }
        return objects;
    }

    void awaitParts(long count) {
        clock.leap(Duration.ofSeconds(6).toNanos());
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> assertThat(parts()).isEqualTo(count));
    }

    /** Puts parts that no list names, as a client that ends in the middle of a put. */
    void leaveOrphans(long id, int count) {
        final Request put = new Request();
        for (int number = 0; number < count; number++) {
            put(put, id, number);
            assertThat(put.status()).isEqualTo(Status.OK);
        }
    }

    private void put(Request put, long id, int number) {
        final int partsId = org.rowankv.protocol.Parts.of(cache);
        final org.rowankv.topology.PartKeys keys =
                cluster.servers().get(0).replicas().all().get(0).partKeys();
        final byte[] key = keys.key(partsId, 1, id, number);
        client.execute(put.put(partsId, key, 0, key.length, key, 0, key.length));
    }

    byte[] value(String key, long number, int length) {
        return Stores.value(key, number, length);
    }

    @Override
    public void close() {
        client.close();
        cluster.close();
    }
}
