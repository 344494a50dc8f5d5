package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.cluster.FailoverBed.CACHE;
import static org.rowankv.server.cluster.FailoverBed.bytes;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.server.directory.ClosedServer;
import org.rowankv.server.engine.Server;
import org.rowankv.server.inspect.ServerContents;
import org.rowankv.server.inspect.ServerInspection;
import org.rowankv.topology.Configuration;

/** A server that returns keeps what is current of what it had, and receives the rest. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ReturnedServerTest {
    private static final int KEYS = 3000;
    private static final int CHANGED = 100;
    private static final int DELETED = 50;
    private static final int UNCHANGED = KEYS - CHANGED - DELETED;
    private static final int RETURNING = 1;

    @TempDir
    Path dir;

    private static void put(RowanClient client, int from, int to, String value) {
        for (int i = from; i < to; i++) {
            client.put(CACHE, bytes("key" + i), bytes(value + i));
        }
    }

    private static void awaitReplicas(ClusterBed bed, int members) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            final Configuration present = bed.members.get(0).server.inForce();
            assertThat(present.members()).hasSize(members);
            assertThat(present.shards())
                    .allMatch(shard ->
                            shard.replicaCount() == members && shard.joining().isEmpty());
        });
    }

    private static void fillAndLoseOne(ClusterBed bed, RowanClient client) {
        put(client, 0, KEYS, "value");
        bed.members.get(RETURNING).kill();
        awaitReplicas(bed, 2);
    }

    private static void change(RowanClient client) {
        put(client, 0, CHANGED, "new");
        for (int i = CHANGED; i < CHANGED + DELETED; i++) {
            client.remove(CACHE, bytes("key" + i));
        }
    }

    private static void requireChanged(RowanClient client) {
        for (int i = 0; i < KEYS; i++) {
            final byte[] expected = i < CHANGED ? bytes("new" + i) : bytes("value" + i);
            assertThat(client.get(CACHE, bytes("key" + i)))
                    .as("key %d", i)
                    .isEqualTo(i >= CHANGED && i < CHANGED + DELETED ? null : expected);
        }
    }

    private static long copied(ClusterBed bed) {
        return bed.server(0).copies().entries() + bed.server(2).copies().entries();
    }

    private static Server returned(ClusterBed bed) {
        return bed.server(RETURNING);
    }

    @Test
    void shouldBeSentOnlyWhatHasChangedMeanwhile() {
        try (ClusterBed bed = FailoverBed.started(dir, 3, 3)) {
            final RowanClient client = bed.client(1);
            fillAndLoseOne(bed, client);
            change(client);
            final long before = copied(bed);
            bed.members.get(RETURNING).start();
            awaitReplicas(bed, 3);
            assertThat(returned(bed).joining().reusedEntries()).isEqualTo(UNCHANGED);
            assertThat(copied(bed) - before).isBetween((long) CHANGED, (long) KEYS / 2);
            ClusterServersTest.awaitAgreement(bed);
            requireChanged(client);
            // What was reclaimed counts from now on, whatever becomes of the process.
            bed.members.forEach(ClusterBed.Member::kill);
            bed.members.forEach(ClusterBed.Member::start);
            bed.awaitServing();
            ClusterServersTest.awaitAgreement(bed);
            requireChanged(bed.client(2));
        }
    }

    /** Its directory still has it. */
    @Test
    void shouldNotBeCountedWithWhatOthersHoldNow() {
        try (ClusterBed bed = FailoverBed.started(dir, 3, 3)) {
            fillAndLoseOne(bed, bed.client(1));
            final Configuration present = bed.members.get(0).server.inForce();
            try (ClosedServer closed = ClosedServer.open(dir.resolve(bed.members.get(RETURNING).name))) {
                assertThat(objects(ServerInspection.of(closed))).isEqualTo(KEYS);
                assertThat(objects(ServerInspection.of(closed, present))).isZero();
            }
        }
    }

    private static long objects(ServerInspection inspection) {
        return inspection.contents().servers().stream()
                .mapToLong(ServerContents::objects)
                .sum();
    }
}
