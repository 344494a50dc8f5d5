package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.ShardAssignment;

/** Shared by the tests of whole stores: clients, self-describing values, and a comparison of the replicas. */
public final class Stores {
    private static final int LOCK_OWNER = 1 << 26;

    private Stores() {}

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    public static RowanClient client(EmbeddedCluster cluster) {
        return client(cluster, 7);
    }

    public static RowanClient client(EmbeddedCluster cluster, long seed) {
        // As over a network: with request ids, so that servers keep completions.
        return new RowanClient(
                new ReplyLosingSession(cluster.session(), call -> false, new AtomicInteger()),
                SystemClock.INSTANCE,
                new SplittableRandomSource(seed));
    }

    /** Opens a session at a shard; returns the answer. */
    static Request openSession(EmbeddedCluster cluster, int shard, long session) {
        final Request request = new Request();
        // The first answer provides a version of the shard.
        for (long asOf = 0; ; asOf = request.version()) {
            cluster.session().call(request.openSession(shard, session, asOf));
            if (asOf != 0 || request.status() != Status.SESSION_EXPIRED) {
                return request;
            }
        }
    }

    public static int cache(RowanClient client) {
        return client.catalogue().create("c", new byte[0]).id();
    }

    /** The number-th value of a key: at least 8 bytes, all of which depend on both. */
    public static byte[] value(String key, long number, int length) {
        final ByteBuffer value = ByteBuffer.allocate(Math.max(8, length)).putLong(number);
        long state = key.hashCode() * 0x9e3779b97f4a7c15L ^ number;
        while (value.hasRemaining()) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            value.put((byte) (state >>> 56));
        }
        return value.array();
    }

    /** The number of a value of that key; fails if it is no such value. */
    static long numberOf(String key, byte[] value) {
        final long number = ByteBuffer.wrap(value).getLong();
        assertThat(value).as("value of %s", key).isEqualTo(value(key, number, value.length));
        return number;
    }

    /** The visible objects in one replica's index: by cache and key, their version, length and checksum. */
    public static Map<String, String> objects(Server server, int shard) {
        final ShardReplica replica = server.replicas().get(shard);
        final MemoryRegion region = server.segments().region();
        final Map<String, String> objects = new HashMap<>();
        long position = 0;
        do {
            replica.index().lock(LOCK_OWNER);
            try {
                position = replica.index().visit(position, address -> {
                    final ByteBuffer buffer = region.buffer(address);
                    final int at = region.offset(address);
                    final int cacheId = EntryDescriptor.cacheId(buffer, at);
                    final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(buffer, at));
                    if (replica.isVisible(type, cacheId, EntryDescriptor.version(buffer, at))) {
                        final byte[] key = new byte[EntryDescriptor.keyLength(buffer, at)];
                        buffer.get(at + EntryDescriptor.headerLength(EntryDescriptor.flags(buffer, at)), key);
                        objects.put(
                                cacheId + ":" + new String(key, StandardCharsets.ISO_8859_1),
                                EntryDescriptor.version(buffer, at) + "/" + EntryDescriptor.valueLength(buffer, at)
                                        + "/" + FrameDescriptor.bodyCrc(buffer, at));
                    }
                });
            } finally {
                replica.index().unlock();
            }
        } while (position != 0);
        return objects;
    }

    /** Every replica of every shard holds the same objects in the same versions. No writer runs meanwhile. */
    static void requireAgreement(EmbeddedCluster cluster) {
        cluster.awaitDigested();
        for (int shard = 0; shard < cluster.configuration().shardCount(); shard++) {
            final ShardAssignment assignment = cluster.configuration().shard(shard);
            final Map<String, String> primary = objects(cluster.servers().get(assignment.primary()), shard);
            for (int backup : assignment.backups()) {
                assertThat(objects(cluster.servers().get(backup), shard))
                        .as("shard %d on server %d", shard, backup)
                        .isEqualTo(primary);
            }
        }
    }

    /** No error was reported, all segments are accounted for, and the replicas agree. */
    public static void requireHealth(EmbeddedCluster cluster) {
        requireAgreement(cluster);
        assertThat(cluster.errors().distinct()).isEmpty();
        for (ServerStatistics statistics : cluster.statistics()) {
            assertThat(statistics.segments().total())
                    .isEqualTo((int) (cluster.settings().capacityBytes()
                            / cluster.settings().shape().segmentBytes()));
        }
    }

    /**
     * After every client was closed and the agents are idle: space taken equals live bytes in the segments, on every
     * server, exactly. Live is what the index refers to, and every tombstone.
     */
    public static void requireExactSpace(EmbeddedCluster cluster) {
        for (Server server : cluster.servers()) {
            await().atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofMillis(5))
                    .untilAsserted(() -> {
                        cluster.releaseGrants(); // each time: an agent may have held a worker before
                        cluster.awaitDigested();
                        final Segments segments = server.segments();
                        assertThat(segments.space().limit() - segments.space().available())
                                .as("space taken on server %d", server.serverId())
                                .isEqualTo(new LiveBytes(server).count());
                    });
        }
    }
}
