package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.Collectors;
import org.rowankv.driver.RowanClient;
import org.rowankv.topology.Configuration;

/** A cluster and the values of some keys, for tests in which servers are lost. */
final class FailoverBed {
    static final int CACHE = 1;
    static final int KEYS = 300;
    private static final long CAPACITY = 8 << 20;

    private FailoverBed() {}

    static ClusterBed started(Path dir, int servers, int replicas) {
        return new ClusterBed(dir, servers, replicas, CAPACITY).startAll();
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static void write(RowanClient client, String value) {
        for (int i = 0; i < KEYS; i++) {
            client.put(CACHE, bytes("key" + i), bytes(value + i));
        }
    }

    static void requireAll(RowanClient client, String value) {
        for (int i = 0; i < KEYS; i++) {
            assertThat(client.get(CACHE, bytes("key" + i))).as("key %d", i).isEqualTo(bytes(value + i));
        }
    }

    /** That so many members have two complete replicas of each shard, as the asked one sees it, which may still start. */
    static void awaitFullRedundancy(ClusterBed bed, int asked, int members) {
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

    static void awaitSaying(ClusterServer server, String part) {
        await().atMost(Duration.ofSeconds(30)).until(() -> server.saying().contains(part));
    }
}
