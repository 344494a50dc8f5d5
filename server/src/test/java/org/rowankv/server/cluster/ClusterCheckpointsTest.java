package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.server.cluster.ClusterBed.Member;
import org.rowankv.server.directory.StoreDirectory;
import org.rowankv.server.embedded.Stores;
import org.rowankv.topology.Configuration;

/** A start of a cluster from checkpoints finds what one that reads whole logs finds. */
class ClusterCheckpointsTest {
    private static final int CACHE = 1;
    private static final int KEYS = 400;

    @TempDir
    Path dir;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Overwrites and removals too: dead entries and tombstones must stay dead. */
    private static void write(RowanClient client, int round) {
        for (int i = 0; i < KEYS; i++) {
            client.put(CACHE, bytes("key" + i), bytes("value " + i + " of " + round));
            if ((i + round) % 5 == 0) {
                client.remove(CACHE, bytes("key" + i));
            }
        }
    }

    private static void requireWritten(RowanClient client, int round) {
        for (int i = 0; i < KEYS; i++) {
            assertThat(client.get(CACHE, bytes("key" + i)))
                    .as("key%d", i)
                    .isEqualTo((i + round) % 5 == 0 ? null : bytes("value " + i + " of " + round));
        }
    }

    private static void awaitCheckpoints(ClusterBed bed) {
        for (Member member : bed.members) {
            final int enough = member.checkpointsPublished.get() + 2;
            await().atMost(Duration.ofSeconds(60)).until(() -> {
                for (int i = 0; i < 4 * bed.configuration().shardCount(); i++) {
                    bed.client(9).put(CACHE, bytes("another" + i), bytes("change")); // of each shard's index
                }
                return member.checkpointsPublished.get() >= enough;
            });
        }
    }

    private static Map<String, Map<String, String>> contents(ClusterBed bed) {
        final Configuration configuration = bed.configuration();
        final Map<String, Map<String, String>> all = new TreeMap<>();
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            for (int server = 0; server < bed.members.size(); server++) {
                if (configuration.shard(shard).isReplica(server)) {
                    all.put(shard + " on " + server, Stores.objects(bed.server(server), shard));
                }
            }
        }
        return all;
    }

    private void deleteCheckpoints(ClusterBed bed) throws Exception {
        for (int server = 0; server < bed.members.size(); server++) {
            final Path checkpoints = StoreDirectory.checkpointDir(dir.resolve(bed.members.get(server).name), server);
            try (Stream<Path> files = Files.list(checkpoints)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private static void restart(ClusterBed bed) {
        bed.members.forEach(member -> member.imagesRead.set(0));
        bed.members.forEach(Member::kill);
        bed.startAll();
    }

    private static int imagesRead(ClusterBed bed) {
        return bed.members.stream().mapToInt(member -> member.imagesRead.get()).sum();
    }

    @Test
    void shouldFindTheSameWithAndWithoutCheckpoints() throws Exception {
        try (ClusterBed bed =
                new ClusterBed(dir, 3, 2, 8 << 20).withCheckpoints(10).startAll()) {
            write(bed.client(1), 1);
            awaitCheckpoints(bed);
            write(bed.client(2), 2); // the tail

            restart(bed);
            assertThat(imagesRead(bed))
                    .as("an image for each replica")
                    .isEqualTo(2 * bed.configuration().shardCount());
            requireWritten(bed.client(3), 2);
            ClusterServersTest.awaitAgreement(bed);
            final Map<String, Map<String, String>> fromCheckpoints = contents(bed);

            bed.withCheckpoints(0);
            restart(bed);
            assertThat(imagesRead(bed)).isZero();
            requireWritten(bed.client(4), 2);
            assertThat(contents(bed)).isEqualTo(fromCheckpoints);
        }
    }

    @Test
    void shouldReadTheLogWhereTheCheckpointIsGone() throws Exception {
        try (ClusterBed bed =
                new ClusterBed(dir, 2, 2, 8 << 20).withCheckpoints(10).startAll()) {
            write(bed.client(1), 1);
            awaitCheckpoints(bed);
            bed.members.forEach(Member::kill);
            deleteCheckpoints(bed);
            bed.startAll();
            requireWritten(bed.client(2), 1);
        }
    }

    /** Its replicas have other tenures: images of the former ones would name what is gone. */
    @Test
    void shouldBeginNewCheckpointsWhenAServerReturns() throws Exception {
        try (ClusterBed bed = new ClusterBed(dir, 3, 2, 8 << 20)
                .withUsualLease()
                .withCheckpoints(10)
                .startAll()) {
            write(bed.client(1), 1);
            awaitCheckpoints(bed);
            final Member lost = bed.members.get(1);
            lost.kill();
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> !bed.members.get(0).server.inForce().isMember(1));
            write(bed.client(2), 2);
            lost.imagesRead.set(0);
            lost.start();
            await().atMost(Duration.ofSeconds(60)).until(() -> {
                final Configuration inForce = bed.members.get(0).server.inForce();
                return inForce.isMember(1)
                        && inForce.shards().stream()
                                .allMatch(shard -> shard.joining().isEmpty() && shard.replicaCount() == 2);
            });
            assertThat(lost.imagesRead.get())
                    .as("nothing of its former replicas")
                    .isZero();
            awaitCheckpoints(bed);
            write(bed.client(3), 3);

            restart(bed);
            requireWritten(bed.client(4), 3);
            ClusterServersTest.awaitAgreement(bed);
        }
    }
}
