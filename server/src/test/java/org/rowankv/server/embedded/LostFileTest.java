package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.AgentInvoker;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.area.AreaFileWatcher;

/**
 * Files that are truncated, removed or replaced while their store is open. In a separate JVM: a fault of a mapping must
 * not hit other tests.
 */
@Timeout(120)
@Tag("jvm")
final class LostFileTest {
    private static final int KEYS = 300;

    @TempDir
    private Path temporary;

    private static EmbeddedSettings settings(Path dir, int servers) {
        return EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = servers;
            with.shards = servers;
            with.workers = 2;
            with.capacityBytes = 4 << 20;
            with.segmentBytes = 64 << 10;
            with.scrubMibPerSecond = 0;
            with.dir = dir;
        });
    }

    private String run(String what, int servers, boolean watched) throws IOException, InterruptedException {
        final Path output = temporary.resolve("output-" + what);
        final Process child = new ProcessBuilder(
                        System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                        "-Xmx256m",
                        // Interpreted: a read of missing bytes is reported where it happens, before a checksum is
                        // computed.
                        "-Xint",
                        "-XX:+UseSerialGC",
                        "-XX:ErrorFile=" + temporary.resolve("hs_err"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        what,
                        temporary.resolve("store").toString(),
                        Integer.toString(servers),
                        Boolean.toString(watched))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(child.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            child.destroyForcibly();
        }
        final String printed = Files.readString(output, StandardCharsets.UTF_8);
        assertThat(child.exitValue()).as(printed).isZero();
        return printed;
    }

    @ParameterizedTest
    @CsvSource({
        "cut, 1, true",
        "cut, 2, true",
        "removed, 1, true",
        "replaced, 1, true",
        "emptied, 1, true",
        // The thread that meets the fault reports it; the file watcher is off.
        "cut, 1, false",
        "cut, 3, false",
        "emptied, 2, false"
    })
    void shouldStopAndNameTheFile(String what, int servers, boolean watched) throws Exception {
        final String printed = run(what, servers, watched);
        assertThat(printed)
                .contains("refused: the area " + temporary.resolve("store") + "/area-0.rowan was "
                        + (what.equals("emptied") ? "cut off to 0" : what.equals("cut") ? "cut off to" : what))
                .contains("answers no more requests")
                .contains("closed")
                .doesNotContain("WRONG");
    }

    @Test
    void shouldOpenAgainFromAnotherReplica() throws Exception {
        run("cut", 2, true);
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(temporary.resolve("store"), 2));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int k = 0; k < KEYS; k++) {
                assertThat(client.get(cache, bytes("k" + k))).isEqualTo(value("k" + k, k, 1_000));
            }
        }
    }

    @Test
    void shouldBeRefusedWithoutAnother() throws Exception {
        run("cut", 1, true);
        assertThatThrownBy(() -> EmbeddedCluster.open(settings(temporary.resolve("store"), 1)))
                .hasMessageContaining("area-0.rowan has")
                .hasMessageContaining("it was cut off or written over");
    }

    /** Opens a store, damages the file of server 0, and sends requests until it is refused. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) throws IOException {
            final Path dir = Path.of(args[1]);
            final EmbeddedCluster cluster = EmbeddedCluster.open(
                    settings(dir, Integer.parseInt(args[2])), context(Boolean.parseBoolean(args[3])));
            final RowanClient client = Stores.client(cluster);
            final int cache = Stores.cache(client);
            for (int k = 0; k < KEYS; k++) {
                client.put(cache, bytes("k" + k), value("k" + k, k, 1_000));
            }
            cluster.awaitDigested();
            cluster.verifyReplicas(); // after this nothing lands any more: a store to missing bytes would end the JVM
            harm(args[0], dir.resolve("area-0.rowan"));
            final boolean[] refused = new boolean[1];
            await().until(() -> {
                for (int k = KEYS - 1; k >= 0 && !refused[0]; k--) {
                    refused[0] = get(client, cache, "k" + k, k);
                }
                return refused[0];
            });
            try {
                client.put(cache, bytes("k"), bytes("v"));
                System.out.println("WRONG: it accepts writes");
            } catch (RowanException | IllegalStateException e) {
                System.out.println("refused: " + e.getMessage());
            }
            cluster.close();
            System.out.println("closed");
        }

        /** The machine's context, with or without the file watcher. */
        private static EmbeddedContext context(boolean watched) {
            final EmbeddedContext usual = EmbeddedContext.machine();
            return watched
                    ? usual
                    : new EmbeddedContext(
                            usual.clocks(),
                            usual.random(),
                            new Blind(usual.scheduling()),
                            usual.fabric(),
                            null,
                            usual.areaMachine(),
                            usual.tuning(),
                            usual.scanThreads(),
                            usual.clientsEndWithStore());
        }

        private record Blind(Scheduling usual) implements Scheduling {
            @Override
            public AgentHandle take(Agent agent, ErrorLog errors) {
                return agent instanceof AreaFileWatcher ? new AgentInvoker(agent, errors) : usual.take(agent, errors);
            }

            @Override
            public void park(long ns) {
                usual.park(ns);
            }
        }

        /** Whether it was refused. */
        private static boolean get(RowanClient client, int cache, String key, int number) {
            try {
                final byte[] found = client.get(cache, bytes(key));
                if (found == null || Stores.numberOf(key, found) != number) {
                    System.out.println("WRONG: " + key);
                }
                return false;
            } catch (RowanException | IllegalStateException e) {
                System.out.println("refused: " + e.getMessage());
                return true;
            }
        }

        private static void harm(String what, Path file) throws IOException {
            switch (what) {
                case "cut" -> truncate(file, Files.size(file) / 25 & -4096);
                case "emptied" -> truncate(file, 0);
                case "removed" -> Files.delete(file);
                case "replaced" -> {
                    final Path other = file.resolveSibling("other");
                    Files.copy(file, other);
                    Files.move(other, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                }
                default -> throw new IllegalArgumentException(what);
            }
        }

        private static void truncate(Path file, long length) throws IOException {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(length);
            }
        }
    }
}
