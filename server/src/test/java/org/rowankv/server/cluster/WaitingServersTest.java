package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.configstore.ConfigurationStore;

/** A waiting server reports what it waits for, and does not spin. */
final class WaitingServersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path dir;

    @Test
    void shouldNameTheServerThatDoesNotAnswerAStart() {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 8 << 20)) {
            bed.members.get(1).proxy.refuse(true);
            bed.members.forEach(ClusterBed.Member::start);
            final ClusterServer first = bed.members.get(0).server;
            await().atMost(PATIENCE).until(() -> first.saying().contains("last refusal"));
            assertThat(first.saying())
                    .contains("waiting for server b at 127.0.0.1:"
                            + bed.members.get(1).proxy.port())
                    .contains("last refusal by b: ")
                    .contains("it closed the connection in the handshake");

            bed.members.get(1).proxy.refuse(false);
            bed.awaitServing();
            await().atMost(PATIENCE).until(() -> first.saying().isEmpty());
        }
    }

    /** All live, so that each start would begin with the same members again. */
    @Test
    void shouldStartWithoutAServerThatOthersCannotReachAndAddItAfterwards() {
        try (ClusterBed bed = new ClusterBed(dir, 3, 2, 8 << 20).withStartWait(300)) {
            bed.members.get(1).proxy.refuse(true);
            bed.members.forEach(ClusterBed.Member::start);
            await().atMost(PATIENCE).until(() -> bed.server(0) != null && bed.server(2) != null);

            bed.members.get(1).proxy.refuse(false);
            bed.awaitServing();
            await().atMost(PATIENCE).until(() -> bed.configuration().members().size() == 3);
        }
    }

    /** Removed, not truncated: a fault of the mapping must not hit other tests in this JVM. */
    @Test
    void shouldStopWhenItsFileIsRemovedAndSayWhichOne() throws IOException {
        try (ClusterBed bed = new ClusterBed(dir, 1, 1, 8 << 20)) {
            bed.members.get(0).start();
            bed.awaitServing();
            final ClusterServer server = bed.members.get(0).server;
            final Path file;
            try (Stream<Path> files = Files.walk(dir)) {
                file = files.filter(each -> each.toString().endsWith(".rowan"))
                        .findAny()
                        .orElseThrow();
            }
            Files.delete(file);

            await().atMost(PATIENCE).until(() -> server.phase() == StartPhase.FAILED);
            assertThat(server.failure()).hasMessageContaining(file.toString());
        }
    }

    @Test
    void shouldPauseAfterALookThatFailedWhateverTheStoreSaysMeanwhile() {
        final AwayStore store = new AwayStore();
        try (ClusterBed bed = new ClusterBed(dir, 1, 1, 8 << 20, store)) {
            bed.members.get(0).start();
            bed.awaitServing();
            final ClusterServer server = bed.members.get(0).server;
            final long fromNs = SystemClock.INSTANCE.nanoTime();
            store.away = true;
            await().atMost(PATIENCE).pollInterval(Duration.ofMillis(5)).until(() -> {
                store.changed.accept(ConfigurationStore.ANY_PATH);
                return store.failures.get() >= 9;
            });
            final long failures = store.failures.get();
            // However long that took: two accesses each 300 ms at most, to read and to vote, and a vote before them.
            assertThat(failures).isLessThanOrEqualTo(3 + 2 * (SystemClock.INSTANCE.nanoTime() - fromNs) / 300_000_000);
            assertThat(server.saying())
                    .isEqualTo("the configuration store is unreachable; the data path continues: the store is away");

            store.away = false;
            store.changed.accept(ConfigurationStore.ANY_PATH);
            await().atMost(PATIENCE).until(() -> server.saying().isEmpty());
        }
    }
}
