package org.rowankv.server.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.rowan.FrameSealer;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.embedded.Stores;
import org.rowankv.server.embedded.WriterModel;
import org.rowankv.server.engine.Server;
import org.rowankv.server.inspect.LiveReplicaReport;
import org.rowankv.server.inspect.ReplicaReport;
import org.rowankv.server.inspect.ReplicaReport.ShardDigests;
import org.rowankv.server.inspect.StoreInspection;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/** Replicas of stores under writes are compared: equal ones agree, and a different one is named. */
@Timeout(120)
final class LiveComparisonTest {
    @TempDir
    private Path temporary;

    private EmbeddedSettings settings(int servers, int replicas) {
        return EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.shards = 4;
            with.workers = 2;
            with.capacityBytes = 4 << 20;
            with.segmentBytes = 64 << 10;
            with.maxMessage = 4096;
            with.scrubMibPerSecond = 0;
            with.dir = temporary.resolve("store");
        });
    }

    @ParameterizedTest
    @CsvSource({"3, 3, 300", "3, 2, 9000", "1, 1, 300"})
    void shouldAgreeWhileWritersGoOn(int servers, int replicas, int length) {
        final WriterModel model = new WriterModel(3, length > 1_000 ? 10 : 60, length);
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(servers, replicas));
                RowanClient client = Stores.client(cluster);
                WriterModel.Running running = model.start(cluster, Stores.cache(client))) {
            for (int round = 0; round < 6; round++) {
                running.awaitWrites(500);
                final LiveReplicaReport report = cluster.verifyReplicas();
                assertThat(report.findings()).isEmpty();
                assertThat(report.agrees()).isTrue();
                assertThat(report.objects()).isPositive();
                assertThat(report.shards())
                        .allSatisfy(shard -> assertThat(shard.replicas()).hasSize(replicas));
            }
        }
        model.requireSettled();
    }

    /** With lifetimes, touches, removals and a clear; against the comparison of the same store after its close. */
    @Test
    void shouldComeToTheSameDigestsAsTheToolDoes() {
        final LiveReplicaReport live;
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(3, 2));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            final int other = client.catalogue().create("other", new byte[0]).id();
            for (int k = 0; k < 400; k++) {
                client.put(other, bytes("k" + k), value("k" + k, k, 100));
                client.put(cache, bytes("k" + k), value("k" + k, k, k % 7 == 0 ? 6_000 : 200));
                if (k % 3 == 0) {
                    putFor(client, cache, "t" + k, bytes("v" + k), 3_600_000L + k);
                }
                if (k % 5 == 0) {
                    client.remove(cache, bytes("k" + k / 2));
                }
            }
            client.clear(other);
            client.put(other, bytes("after"), bytes("v"));
            live = cluster.verifyReplicas();
            cluster.snapshot(temporary.resolve("copy"));
        }
        try (ClosedStore copy = ClosedStore.open(temporary.resolve("copy"))) {
            final ReplicaReport closed = StoreInspection.of(copy).compareReplicas();
            assertThat(closed.differences()).isEmpty();
            assertThat(closed.damagedPlaces()).isZero();
            assertThat(live.shards()).isEqualTo(closed.shards());
            assertThat(live.objects()).isEqualTo(closed.objects());
        }
    }

    private static void putFor(RowanClient client, int cache, String key, byte[] value, long ttlMs) {
        final byte[] name = bytes(key);
        final Request put = new Request();
        client.execute(
                put.put(cache, name, 0, name.length, value, 0, value.length).ttl(ttlMs, ttlMs));
        RowanClient.checkOutcome(put);
    }

    private enum Planted {
        VALUE,
        EXPIRY,
        KEY,
        MISSING
    }

    @ParameterizedTest
    @EnumSource(Planted.class)
    void shouldNameTheReplicaThatDiffers(Planted what) {
        final WriterModel model = new WriterModel(2, 30, 200);
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(3, 3));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int k = 0; k < 100; k++) {
                putFor(client, cache, "k" + k, value("k" + k, k, 200), 3_600_000L);
            }
            cluster.awaitDigested();
            assertThat(cluster.verifyReplicas().findings()).isEmpty();
            final int shard = 2;
            final int backup = cluster.configuration().shard(shard).backups()[0];
            plant(cluster.servers().get(backup), shard, what);
            try (WriterModel.Running running = model.start(cluster, cache)) {
                running.awaitWrites(200);
                final LiveReplicaReport report = cluster.verifyReplicas();
                assertThat(report.agrees()).isFalse();
                final List<ShardDigests> differing =
                        report.shards().stream().filter(each -> !each.agree()).toList();
                assertThat(differing).hasSize(1);
                assertThat(differing.get(0).shard()).isEqualTo(shard);
                final String version = Version.toString(report.versions().get(shard));
                assertThat(report.findings().get(0))
                        .startsWith("shard 2 differs at version " + version + ": server ")
                        .contains("server " + backup + " holds ");
                final long digest = digestOf(differing.get(0), backup);
                assertThat(differing.get(0).replicas())
                        .filteredOn(each -> each.digest() == digest)
                        .hasSize(1);
            }
        }
        model.requireSettled();
    }

    private static long digestOf(ShardDigests shard, int server) {
        return shard.replicas().stream()
                .filter(each -> each.server() == server)
                .findFirst()
                .orElseThrow()
                .digest();
    }

    /** Changes the newest entry of some key of the shard that is not written any more, with its checksums. */
    private static void plant(Server server, int shard, Planted what) {
        final ShardReplica replica = server.replicas().get(shard);
        final Segments segments = server.segments();
        final AtomicLong found = new AtomicLong();
        replica.index().lock(1 << 25);
        try {
            long position = 0;
            do {
                position = replica.index().visit(position, found::set);
            } while (found.get() == 0 && position != 0);
        } finally {
            replica.index().unlock();
        }
        final long address = found.get();
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int flags = EntryDescriptor.flags(buffer, at);
        final int keyAt = at + EntryDescriptor.headerLength(flags);
        final int keyLength = EntryDescriptor.keyLength(buffer, at);
        final long word = FrameDescriptor.wordPlain(buffer, at);
        if (what == Planted.MISSING) {
            FrameDescriptor.giveUp(buffer, at);
            return;
        }
        final int where = switch (what) {
            case VALUE -> keyAt + keyLength + 50;
            case KEY -> keyAt + keyLength - 1;
            default -> expiryAt(buffer, at, flags);
        };
        buffer.put(where, (byte) (buffer.get(where) ^ 1));
        final int used = EntryDescriptor.usedLength(buffer, at) - EntryDescriptor.FRAME_LENGTH;
        final int crc = new EntryCheck(segments.region()).crc(buffer, at + EntryDescriptor.FRAME_LENGTH, used);
        new FrameSealer()
                .publishOwned(
                        buffer,
                        at,
                        address,
                        FrameDescriptor.generation(word),
                        FrameDescriptor.length(word),
                        FrameDescriptor.type(word),
                        crc,
                        FrameDescriptor.tag(buffer, at),
                        FrameDescriptor.stamp(buffer, at));
    }

    /** The address of a byte that changes the expiry and nothing else. */
    private static int expiryAt(ByteBuffer buffer, int at, int flags) {
        final long before = EntryDescriptor.expiryMs(buffer, at, flags);
        for (int offset = EntryDescriptor.FRAME_LENGTH; offset < EntryDescriptor.headerLength(flags); offset++) {
            final byte was = buffer.get(at + offset);
            buffer.put(at + offset, (byte) (was ^ 1));
            final boolean changed =
                    EntryDescriptor.flags(buffer, at) == flags && EntryDescriptor.expiryMs(buffer, at, flags) != before;
            buffer.put(at + offset, was);
            if (changed) {
                return at + offset;
            }
        }
        throw new AssertionError("no expiry");
    }
}
