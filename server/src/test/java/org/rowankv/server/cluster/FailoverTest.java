package org.rowankv.server.cluster;

import static org.awaitility.Awaitility.await;
import static org.rowankv.server.cluster.FailoverBed.awaitFullRedundancy;
import static org.rowankv.server.cluster.FailoverBed.requireAll;
import static org.rowankv.server.cluster.FailoverBed.write;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.topology.Configuration;

/** A cluster goes on without a server, and takes it back. */
final class FailoverTest {
    @TempDir
    Path dir;

    private static void awaitMembers(ClusterBed bed, int asked, int members) {
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            final Configuration present = bed.members.get(asked).server.configuration();
            return present != null
                    && present.members().size() == members
                    && present.shards().stream()
                            .allMatch(shard -> shard.joining().isEmpty());
        });
    }

    private void shouldGoOnWithout(int lost) {
        try (ClusterBed bed = FailoverBed.started(dir, 3, 2)) {
            final int other = (lost + 1) % 3;
            final RowanClient client = bed.client(1);
            write(client, "first");
            bed.members.get(lost).kill();
            awaitMembers(bed, other, 2);
            write(client, "second");
            requireAll(client, "second");
            bed.members.get(lost).start();
            awaitFullRedundancy(bed, other, 3);
            write(client, "third");
            requireAll(client, "third");
            bed.awaitServing();
            ClusterServersTest.awaitAgreement(bed);
        }
    }

    @Test
    void shouldGoOnWithoutAServer() {
        shouldGoOnWithout(2);
    }

    @Test
    void shouldGoOnWithoutTheManager() {
        shouldGoOnWithout(0);
    }
}
