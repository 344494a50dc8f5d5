package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.topology.Configuration;

/** A server whose data are lost is started with an empty directory. */
final class ReplacementTest {
    private static final int CACHE = 1;
    private static final int KEYS = 300;
    private static final long CAPACITY = 8 << 20;

    @TempDir
    Path dir;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void write(ClusterBed bed) {
        final RowanClient client = bed.client(1);
        for (int i = 0; i < KEYS; i++) {
            client.put(CACHE, bytes("key" + i), bytes("value" + i));
        }
    }

    private static void requireAll(ClusterBed bed) {
        requireAll(bed.client(2));
    }

    private static void requireAll(RowanClient client) {
        for (int i = 0; i < KEYS; i++) {
            assertThat(client.get(CACHE, bytes("key" + i))).as("key %d", i).isEqualTo(bytes("value" + i));
        }
    }

    private void delete(String name) throws IOException {
        try (Stream<Path> files = Files.walk(dir.resolve(name))) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** As that server sees it, which began after the last change. */
    private static void awaitFullRedundancy(ClusterBed bed, int asked, int members) {
        final ClusterServer server = bed.members.get(asked).server;
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            final Configuration present = server.inForce();
            assertThat(present).as(state(bed)).isNotNull();
            assertThat(present.members()).as(state(bed)).hasSize(members);
            assertThat(present.shards())
                    .as(state(bed))
                    .allMatch(shard ->
                            shard.replicaCount() == 2 && shard.joining().isEmpty());
        });
    }

    private static String state(ClusterBed bed) {
        return bed.members.stream()
                .map(member -> member.server)
                .filter(Objects::nonNull)
                .map(server -> server.phase() + " in " + server.inForce() + " " + server.saying())
                .collect(Collectors.joining("; "));
    }

    private static void awaitSaying(ClusterServer server, String part) {
        await().atMost(Duration.ofSeconds(30)).until(() -> server.saying().contains(part));
    }

    @Test
    void shouldReceiveCopiesInPlaceOfLostData() throws IOException {
        try (ClusterBed bed =
                new ClusterBed(dir, 3, 2, CAPACITY).withUsualLease().startAll()) {
            write(bed);
            bed.members.get(1).kill();
            delete("b");
            bed.members.get(1).start();
            awaitFullRedundancy(bed, 1, 3);
            bed.awaitServing();
            ClusterServersTest.awaitAgreement(bed);

            final RowanClient client = bed.client(3);
            bed.members.get(0).kill();
            awaitFullRedundancy(bed, 1, 2);
            requireAll(client);
        }
    }

    /** The former data may turn up again: what they hold is old. */
    @Test
    void shouldRefuseTheFormerDirectory() {
        try (ClusterBed bed =
                new ClusterBed(dir, 3, 2, CAPACITY).withUsualLease().startAll()) {
            write(bed);
            final ClusterBed.Member second = bed.members.get(1);
            second.kill();
            second.start(bed.settings(dir.resolve("new"), "b", bed.shape(), "", second.proxy.port()));
            awaitFullRedundancy(bed, 1, 3);
            second.stop();
            second.start();
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(second.server.phase())
                            .as(second.server.saying())
                            .isEqualTo(StartPhase.FAILED));
            assertThat(second.server.failure())
                    .hasMessageContaining("is not the one with which server 'b' is a member")
                    .hasMessageContaining("use that one");
            second.stop();
            second.start(bed.settings(dir.resolve("new"), "b", bed.shape(), "", second.proxy.port()));
            awaitFullRedundancy(bed, 1, 3);
            requireAll(bed);
        }
    }

    @Test
    void shouldWaitWhileTheClusterCountsOnTheData() {
        try (ClusterBed bed =
                new ClusterBed(dir, 2, 1, CAPACITY).withUsualLease().startAll()) {
            write(bed);
            final ClusterBed.Member first = bed.members.get(0);
            first.kill();
            first.start(bed.settings(dir.resolve("new"), "a", bed.shape(), "", first.proxy.port()));
            awaitSaying(first.server, "the cluster counts on them: waiting until the other servers go on without");
            assertThat(bed.members.get(1).server.failure()).isNull();
            first.stop();
            first.start();
            bed.awaitServing();
            requireAll(bed);
        }
    }

    @Test
    void shouldWaitWhenOnlyTheFileOfTheAreaIsMissing() throws IOException {
        try (ClusterBed bed =
                new ClusterBed(dir, 3, 2, CAPACITY).withUsualLease().startAll()) {
            write(bed);
            bed.members.forEach(ClusterBed.Member::kill);
            final List<Path> areas;
            try (Stream<Path> files = Files.list(dir.resolve("c"))) {
                areas = files.filter(file -> file.getFileName().toString().contains("area"))
                        .toList();
            }
            assertThat(areas).isNotEmpty();
            for (Path area : areas) {
                Files.delete(area);
            }
            bed.members.get(2).start();
            awaitSaying(bed.members.get(2).server, "the data of server 'c' are missing");
            bed.members.get(0).start();
            bed.members.get(1).start();
            awaitFullRedundancy(bed, 2, 3);
            bed.awaitServing();
            requireAll(bed);
            ClusterServersTest.awaitAgreement(bed);
        }
    }
}
