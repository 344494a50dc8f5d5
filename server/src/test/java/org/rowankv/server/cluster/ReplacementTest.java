package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.cluster.FailoverBed.awaitFullRedundancy;
import static org.rowankv.server.cluster.FailoverBed.awaitSaying;
import static org.rowankv.server.cluster.FailoverBed.requireAll;
import static org.rowankv.server.cluster.FailoverBed.write;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;

/** A server whose data are lost is started with an empty directory. */
final class ReplacementTest {
    @TempDir
    Path dir;

    private void delete(String name) throws IOException {
        try (Stream<Path> files = Files.walk(dir.resolve(name))) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void shouldReceiveCopiesInPlaceOfLostData() throws IOException {
        try (ClusterBed bed = FailoverBed.started(dir, 3, 2)) {
            write(bed.client(1), "value");
            bed.members.get(1).kill();
            delete("b");
            bed.members.get(1).start();
            awaitFullRedundancy(bed, 1, 3);
            bed.awaitServing();
            ClusterServersTest.awaitAgreement(bed);

            final RowanClient client = bed.client(3);
            bed.members.get(0).kill();
            awaitFullRedundancy(bed, 1, 2);
            requireAll(client, "value");
        }
    }

    /** The former data may turn up again: what they hold is old. */
    @Test
    void shouldRefuseTheFormerDirectory() {
        try (ClusterBed bed = FailoverBed.started(dir, 3, 2)) {
            write(bed.client(1), "value");
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
            requireAll(bed.client(2), "value");
        }
    }

    @Test
    void shouldWaitWhileTheClusterCountsOnTheData() {
        try (ClusterBed bed = FailoverBed.started(dir, 2, 1)) {
            write(bed.client(1), "value");
            final ClusterBed.Member first = bed.members.get(0);
            first.kill();
            first.start(bed.settings(dir.resolve("new"), "a", bed.shape(), "", first.proxy.port()));
            awaitSaying(first.server, "the cluster counts on them: waiting until the other servers go on without");
            assertThat(bed.members.get(1).server.failure()).isNull();
            first.stop();
            first.start();
            bed.awaitServing();
            requireAll(bed.client(2), "value");
        }
    }

    @Test
    void shouldWaitWhenOnlyTheFileOfTheAreaIsMissing() throws IOException {
        try (ClusterBed bed = FailoverBed.started(dir, 3, 2)) {
            write(bed.client(1), "value");
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
            requireAll(bed.client(2), "value");
            ClusterServersTest.awaitAgreement(bed);
        }
    }
}
