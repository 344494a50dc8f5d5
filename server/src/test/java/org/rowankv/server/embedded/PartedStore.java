package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Parts;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.engine.Server;
import org.rowankv.server.shard.KeyLocks;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.PartKeys;
import org.rowankv.topology.ShardAssignment;
import org.rowankv.topology.ShardMap;

/** An embedded store with short segments, so that values of a megabyte have many parts, and a look at its parts. */
final class PartedStore implements AutoCloseable {
    static final int SEGMENT = 64 << 10;

    /** A client of a store that is opened again has other ids than the ones before. */
    private static final AtomicLong OPENED = new AtomicLong();

    final LeapClock clock = new LeapClock();
    final EmbeddedCluster cluster;
    final HookedSession session;
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
        session = new HookedSession(cluster.session(), withIds);
        client = new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(OPENED.incrementAndGet()));
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
        final int partsId = Parts.of(cache);
        final byte[] key = keys().key(partsId, 1, id, number);
        client.execute(put.put(partsId, key, 0, key.length, key, 0, key.length));
    }

    /** Parts of a value of that length, once the client has learned how long parts may be. */
    long partsOf(int length) {
        return (length - 1L) / (PartedStore.SEGMENT / 8) + 1;
    }

    /** Once, before a list is put. */
    void beforeList(Runnable action) {
        session.beforeList = action;
    }

    /** Once, before a part is read. */
    void beforePartIsRead(Runnable action) {
        session.beforePartIsRead = action;
    }

    /** Sets the clock forward, and waits until every server has walked over its indexes since. */
    void leapAndWalk(Duration duration) {
        final long[] before = cluster.servers().stream()
                .mapToLong(server -> server.retentionAgents().parts().rounds())
                .toArray();
        clock.leap(duration.toNanos());
        for (Server server : cluster.servers()) {
            await().atMost(Duration.ofSeconds(30))
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> server.retentionAgents().parts().rounds() > before[server.serverId()]);
        }
    }

    /** No part waits for its removal, and no object for its eviction. */
    void awaitAtRest() {
        for (Server server : cluster.servers()) {
            await().atMost(Duration.ofSeconds(30))
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> server.retentionAgents().parts().isDone() && !server.isEndingObjects());
        }
    }

    /** Removes a part of a value, as no client does. */
    void loseOnePart(byte[] key) {
        final byte[] part = part(key, 3);
        assertThat(client.remove(Parts.of(cache), part).applied()).isTrue();
    }

    /** Keys whose lock is that of the value's first part. */
    List<byte[]> keysBesideFirstPart(byte[] key, int count) {
        final int shard = shardOf(placed(key));
        final long first = keys().hashOf(Parts.of(cache), part(key, 0));
        final List<byte[]> found = new ArrayList<>();
        for (int i = 0; found.size() < count; i++) {
            final byte[] candidate = Stores.bytes("beside" + i);
            final long placed = placed(candidate);
            if (shardOf(placed) == shard && stripeOf(placed) == stripeOf(first)) {
                found.add(candidate);
            }
        }
        return found;
    }

    private byte[] part(byte[] key, int number) {
        final Request get = new Request().get(cache, key, 0, key.length);
        final int shard = shardOf(placed(key));
        get.placed(placed(key), shard);
        cluster.session().call(get);
        assertThat(get.status()).isEqualTo(Status.IN_PARTS);
        final PartList list = PartList.read(get.result(), 0, get.resultLength());
        return keys().key(Parts.of(cache), shard, list.id(), number);
    }

    private long placed(byte[] key) {
        return new KeyHash(cluster.configuration().hashSeed()).hash(cache, key, 0, key.length);
    }

    private int shardOf(long placed) {
        return ShardMap.shardOf(placed, cluster.configuration().shardCount());
    }

    private int stripeOf(long placed) {
        return KeyLocks.stripeOf(
                ShardMap.positionOf(placed, cluster.configuration().shardCount()));
    }

    private PartKeys keys() {
        return cluster.servers().get(0).replicas().all().get(0).partKeys();
    }

    /** The session of the store, with what a test does between requests. */
    static final class HookedSession implements ForwardingSession {
        private final Session below;
        private final boolean withIds;
        private volatile @Nullable Runnable beforeList;
        private volatile @Nullable Runnable beforePartIsRead;

        HookedSession(Session below, boolean withIds) {
            this.below = below;
            this.withIds = withIds;
        }

        @Override
        public Session below() {
            return below;
        }

        @Override
        public boolean needsRequestIds() {
            return withIds;
        }

        @Override
        public void call(Request request) {
            final Runnable ofList = beforeList;
            if (ofList != null && request.isInParts()) {
                beforeList = null;
                ofList.run();
            }
            final Runnable ofRead = beforePartIsRead;
            if (ofRead != null && request.operation() == Operation.GET && Parts.isParts(request.cacheId())) {
                beforePartIsRead = null;
                ofRead.run();
            }
            below.call(request);
        }
    }

    @Override
    public void close() {
        client.close();
        cluster.close();
    }
}
