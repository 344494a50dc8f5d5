package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.TestScale;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.engine.Server;

/** Agents of servers without requests become idle, and still detect the next request at once. */
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

    @ParameterizedTest
    @EnumSource(
            value = ThreadingMode.class,
            names = {"SHARED", "DEDICATED"})
    void shouldRestWhenNobodyAsksAndWakeUpWhenSomebodyDoes(ThreadingMode mode) {
        try (ClusterBed bed = new ClusterBed(dir, 3, 2, 8 << 20).with(mode).startAll()) {
            for (int round = 0; round < TestScale.of(3, 5); round++) {
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
            // Its pauses double until it is idle: the first windows may include such cycles.
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> runOnlyByTimers(bed.members.stream()
                            .map(member -> member.server.server())
                            .toList()));
            for (ClusterBed.Member member : bed.members) {
                assertThat(member.errors.distinct()).isEmpty();
            }
        }
    }

    /**
     * Whether their agents run once when an idle interval ends, and once more before the next one, for ten intervals.
     */
    private static boolean runOnlyByTimers(List<Server> servers) {
        final List<Window> windows = servers.stream().map(Window::new).toList();
        await().atMost(Duration.ofSeconds(60)).until(() -> windows.stream().allMatch(Window::isLongEnough));
        return windows.stream().allMatch(Window::wasQuiet);
    }

    /** Activity of a server's agents from now on. */
    private static final class Window {
        private final Server server;
        private final long cycles;
        private final long longPauses;

        Window(Server server) {
            this.server = server;
            this.cycles = server.agents().cycles();
            this.longPauses = server.agents().longPauses();
        }

        boolean isLongEnough() {
            return server.agents().longPauses() >= longPauses + 10;
        }

        boolean wasQuiet() {
            return server.isAtRest()
                    && server.agents().cycles() - cycles <= 2 * (server.agents().longPauses() - longPauses) + 8;
        }
    }
}
