package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.server.Server;

/** Servers that nobody asks for anything rest: agents that were at work come to rest, and what comes then is found at once. */
final class IdleServersTest {
    @TempDir
    private Path dir;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void awaitRest(ClusterBed bed) {
        await().atMost(Duration.ofSeconds(60))
                .until(() -> bed.members.stream()
                        .allMatch(member -> member.server.server().isAtRest()));
    }

    @Test
    void shouldRestWhenNobodyAsksAndWakeUpWhenSomebodyDoes() {
        try (ClusterBed bed = new ClusterBed(dir, 3, 2, 8 << 20).startAll()) {
            for (int round = 0; round < 5; round++) {
                try (RowanClient client = bed.client(round)) {
                    final int cache = 7;
                    for (int i = 0; i < 50; i++) {
                        client.put(cache, bytes("k" + i), bytes("v" + round));
                    }
                    awaitRest(bed);
                    for (int i = 0; i < 50; i++) {
                        assertThat(client.get(cache, bytes("k" + i))).isEqualTo(bytes("v" + round));
                    }
                }
            }
            awaitRest(bed);
            // Each is turned by its timer alone: once then, and once more before it goes to rest again.
            for (ClusterBed.Member member : bed.members) {
                final Server server = member.server.server();
                final long rests = server.rests();
                final long turns = server.turns();
                await().atMost(Duration.ofSeconds(60)).until(() -> server.rests() >= rests + 10);
                final long turned = server.turns() - turns;
                assertThat(turned).isLessThanOrEqualTo(2 * (server.rests() - rests) + 4);
                assertThat(server.isAtRest()).isTrue();
            }
            for (ClusterBed.Member member : bed.members) {
                assertThat(member.errors.distinct()).isEmpty();
            }
        }
    }
}
