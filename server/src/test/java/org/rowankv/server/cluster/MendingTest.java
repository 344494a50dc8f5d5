package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.ShardAssignment;

/** A bit that flips in the memory of one server is found there, and the entry is taken from another server. */
class MendingTest {
    private static final int CACHE = 1;
    private static final int KEYS = 600;
    private static final int LENGTH = 1000;
    private static final int VERSION_BYTE = 25;

    @TempDir
    Path dir;

    private record Place(Server server, int shard, long address, String key) {
        void flip(int offset) {
            final ByteBuffer buffer = server.segments().region().buffer(address);
            final int at = server.segments().region().offset(address) + offset;
            buffer.put(at, (byte) (buffer.get(at) ^ 4));
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] value(int number) {
        final byte[] value = new byte[LENGTH];
        Arrays.fill(value, (byte) number);
        return value;
    }

    /** A live object in a committed segment of a server that is its shard's primary, or a backup. */
    private static Place find(ClusterBed bed, int serverId, boolean isPrimary) {
        final Server server = bed.server(serverId);
        final Segments segments = server.segments();
        final AtomicReference<Place> found = new AtomicReference<>();
        final byte[] scratch = new byte[256];
        for (int s = 0; s < segments.count() && found.get() == null; s++) {
            if (segments.state(s) != SegmentState.COMMITTED || !segments.isClosed(s)) {
                continue;
            }
            new SegmentScan(segments.region())
                    .scan(
                            segments.area().addressOf(s),
                            segments.length(),
                            segments.generation(s),
                            new SegmentScan.Visitor() {
                                @Override
                                public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
                                    if (type != EntryType.PUT || found.get() != null) {
                                        return;
                                    }
                                    final int shard = EntryDescriptor.shard(buffer, at);
                                    final ShardReplica replica =
                                            server.replicas().find(shard);
                                    final ShardAssignment assignment =
                                            bed.configuration().shard(shard);
                                    if (replica != null
                                            && (assignment.primary() == serverId) == isPrimary
                                            && replica.index()
                                                    .refers(replica.positionOf(buffer, at, scratch), address)) {
                                        final byte[] key = new byte[EntryDescriptor.keyLength(buffer, at)];
                                        buffer.get(
                                                at + EntryDescriptor.headerLength(EntryDescriptor.flags(buffer, at)),
                                                key);
                                        found.set(new Place(
                                                server, shard, address, new String(key, StandardCharsets.UTF_8)));
                                    }
                                }

                                @Override
                                public void onInvalid(long address, String reason) {
                                    throw new AssertionError(reason);
                                }
                            });
        }
        return found.get();
    }

    /** Also while the damage is looked for: then a read waits. */
    private static void requireValue(RowanClient client, String key) {
        assertThat(client.get(CACHE, bytes(key))).isEqualTo(value(Integer.parseInt(key.substring(3))));
    }

    private void mend(boolean onPrimary, int offset) {
        try (ClusterBed bed =
                new ClusterBed(dir, 3, 2, 8 << 20).withScrubbing(64).startAll()) {
            final RowanClient client = bed.client(1);
            for (int i = 0; i < KEYS; i++) {
                client.put(CACHE, bytes("key" + i), value(i));
            }
            await().atMost(Duration.ofSeconds(60)).until(() -> find(bed, 0, onPrimary) != null);
            final Place place = find(bed, 0, onPrimary);
            final Server server = place.server();

            place.flip(offset);
            await().pollInterval(Duration.ofMillis(1))
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> {
                        requireValue(client, place.key());
                        return server.statistics().replacedEntries() > 0;
                    });

            assertThat(server.statistics().replacedEntries()).isEqualTo(1);
            assertThat(server.statistics().lostEntries()).isZero();
            for (int i = 0; i < KEYS; i++) {
                assertThat(client.get(CACHE, bytes("key" + i))).isEqualTo(value(i));
            }
            ClusterServersTest.awaitAgreement(bed);
        }
    }

    @Test
    void shouldMendAValueOnThePrimary() {
        mend(true, 200);
    }

    @Test
    void shouldMendAValueOnABackup() {
        mend(false, 200);
    }

    /** Then the key and what is committed decide which entry of another server is the damaged one. */
    @Test
    void shouldMendAnEntryWhoseVersionIsDamaged() {
        mend(true, VERSION_BYTE);
    }
}
