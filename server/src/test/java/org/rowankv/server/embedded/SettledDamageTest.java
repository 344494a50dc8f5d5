package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * Damage in a backup log that the scrubber has written off: the replica has a copy of the entry elsewhere, or does not
 * need it. A later start reads the whole area, and counts the replica as complete.
 */
@Timeout(120)
final class SettledDamageTest {
    private static final int SERVERS = 3;
    private static final int KEYS = 400;
    private static final int LENGTH = 1000;
    private static final int FAST = 1 << 10;

    @TempDir
    private Path dir;

    private EmbeddedCluster open(int scrubRate) {
        return EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = SERVERS;
            with.replicas = SERVERS;
            with.shards = SERVERS;
            with.workers = 1;
            with.capacityBytes = 8 << 20;
            with.segmentBytes = 64 << 10;
            with.maxMessage = 4096;
            with.dir = dir;
            with.checkpointIntervalMs = 0;
            with.scrubMibPerSecond = scrubRate;
        }));
    }

    private static void write(EmbeddedCluster cluster, RowanClient client, int step) {
        final int cache = Stores.cache(client);
        for (int k = 0; k < KEYS; k += step) {
            client.put(cache, bytes("k" + k), value("k" + k, k, LENGTH));
        }
        cluster.awaitDigested();
    }

    /**
     * Address of an entry of the shard in a committed segment of the backup log, which the index refers to or not, or
     * null.
     */
    private static @Nullable Long look(Server server, int shard, boolean live) {
        final Segments segments = server.segments();
        final SegmentScan scan = new SegmentScan(segments.region());
        final ShardReplica replica = server.replicas().get(shard);
        final byte[] scratch = new byte[256];
        final Long[] found = new Long[1];
        for (int s = 0; s < segments.count() && found[0] == null; s++) {
            if (segments.state(s) != SegmentState.COMMITTED
                    || !segments.isClosed(s)
                    || segments.owner(s) != SegmentOwner.BACKUP) {
                continue;
            }
            scan.scan(
                    segments.area().addressOf(s), segments.length(), segments.generation(s), new SegmentScan.Visitor() {
                        @Override
                        public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
                            if (type == EntryType.PUT
                                    && EntryDescriptor.shard(buffer, at) == shard
                                    && EntryDescriptor.valueLength(buffer, at) == LENGTH
                                    && replica.index().refers(replica.positionOf(buffer, at, scratch), address)
                                            == live) {
                                found[0] = address;
                            }
                        }

                        @Override
                        public void onInvalid(long address, String reason) {
                            throw new AssertionError(reason);
                        }
                    });
        }
        return found[0];
    }

    /**
     * Flips a bit of such an entry's value at each server, each of another shard: no entry is damaged at two servers.
     */
    private static void damageEach(EmbeddedCluster cluster, boolean live) {
        for (int server = 0; server < SERVERS; server++) {
            final Server damaged = cluster.servers().get(server);
            final int shard = shardOfBackup(cluster, server);
            await().atMost(Duration.ofSeconds(30)).until(() -> look(damaged, shard, live) != null);
            final Long address = look(damaged, shard, live);
            assertThat(address).isNotNull();
            final ByteBuffer buffer = damaged.segments().region().buffer(address);
            final int at = damaged.segments().region().offset(address) + LENGTH / 2;
            buffer.put(at, (byte) (buffer.get(at) ^ 4));
        }
    }

    private static int shardOfBackup(EmbeddedCluster cluster, int server) {
        for (int shard = 0; shard < SERVERS; shard++) {
            if (cluster.configuration().shard(shard).primary() == (server + 1) % SERVERS) {
                return shard;
            }
        }
        throw new AssertionError("server " + server + " is backup of no such shard: " + cluster.configuration());
    }

    private void requireComplete() {
        try (EmbeddedCluster again = open(0);
                RowanClient reader = Stores.client(again, 8)) {
            assertThat(again.joinsCompleted()).isZero();
            for (int server = 0; server < SERVERS; server++) {
                assertThat(dir.resolve("area-" + server + ".rowan.aside")).doesNotExist();
            }
            final int cache = Stores.cache(reader);
            for (int k = 0; k < KEYS; k++) {
                assertThat(numberOf("k" + k, reader.get(cache, bytes("k" + k)))).isEqualTo(k);
            }
            Stores.requireAgreement(again);
            assertThat(again.errors().distinct()).isEmpty();
        }
    }

    @Test
    void shouldCountReplicasWithMendedEntriesAsComplete() {
        try (EmbeddedCluster cluster = open(FAST);
                RowanClient client = Stores.client(cluster)) {
            write(cluster, client, 1);
            damageEach(cluster, true);
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> cluster.statistics().stream().allMatch(each -> each.replacedEntries() == 1));
            awaitSettled(cluster);
        }
        requireComplete();
    }

    @Test
    void shouldCountReplicasWithDamagedDeadEntriesAsComplete() {
        try (EmbeddedCluster cluster = open(FAST);
                RowanClient client = Stores.client(cluster)) {
            write(cluster, client, 1);
            write(cluster, client, 2);
            damageEach(cluster, false);
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> cluster.statistics().stream().allMatch(each -> each.badEntries() == 1));
            awaitSettled(cluster);
            assertThat(cluster.errors().distinct()).isEmpty();
        }
        requireComplete();
    }

    private static void awaitSettled(EmbeddedCluster cluster) {
        for (Server server : cluster.servers()) {
            final Segments segments = server.segments();
            await().atMost(Duration.ofSeconds(60)).until(() -> {
                for (int s = 0; s < segments.count(); s++) {
                    if (segments.damage().isSuspect(s, segments.generation(s))) {
                        return false;
                    }
                }
                return true;
            });
        }
    }
}
