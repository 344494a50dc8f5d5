package org.rowankv.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.runtime.HeldPort;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.TestScale;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.membership.PrimaryTransfer;
import org.rowankv.topology.Configuration;

/** Server processes killed while they write: acknowledged writes survive the restart. */
class KilledProcessesTest {
    /** So long that no server is excluded which the machine lets wait: its keys would be found by no start. */
    private static final long PATIENT_LEASE_MS = 4_000;

    @TempDir
    Path dir;

    private TestingServer zooKeeper;
    private final List<Child> children = new ArrayList<>();
    private final List<HeldPort> held = new ArrayList<>();
    /** By key: the highest acknowledged number. */
    private final Map<Integer, Long> acked = new ConcurrentHashMap<>();

    private volatile boolean movingKeys;
    private final ConcurrentLinkedQueue<String> problems = new ConcurrentLinkedQueue<>();

    /** One server, in a process that is restarted. */
    private final class Child {
        private final String name;
        private final int port;
        private final String level;
        private final AtomicInteger acks = new AtomicInteger();
        private final Map<Integer, Long> found = new ConcurrentHashMap<>();
        private final AtomicInteger servings = new AtomicInteger();
        private Process process;
        private Thread reader;

        Child(String name, int port, String level) {
            this.name = name;
            this.port = port;
            this.level = level;
        }

        void start() throws IOException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx256m",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            LoadedServer.class.getName(),
                            name,
                            dir.resolve(name).toString(),
                            zooKeeper.getConnectString(),
                            Integer.toString(port),
                            level,
                            Long.toString(PATIENT_LEASE_MS))
                    .redirectError(ProcessBuilder.Redirect.appendTo(
                            dir.resolve(name + ".log").toFile()))
                    .start();
            final BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
            reader = new Thread(() -> lines.lines().forEach(this::line));
            reader.start();
        }

        private void line(String line) {
            final String[] words = line.split(" ");
            switch (words[0]) {
                case "ACKED" -> {
                    acked.merge(Integer.parseInt(words[1]), Long.parseLong(words[2]), Math::max);
                    acks.incrementAndGet();
                }
                case "FOUND" -> {
                    final int key = Integer.parseInt(words[1]);
                    final long number = Long.parseLong(words[2]);
                    found.put(key, number);
                    final long least = acked.getOrDefault(key, 0L);
                    // One more may have been in flight, and have taken effect. The last output of another process about
                    // a key of its own may not have been read yet.
                    if (number < least || number > least + 1 && !movingKeys) {
                        problems.add(name + ": " + line + ", acknowledged was " + least);
                    }
                }
                case "SERVING" -> servings.incrementAndGet();
                default -> problems.add(name + ": " + line);
            }
        }

        /** By its handle: {@link Process#destroyForcibly} closes the streams, and output that is not read yet would be lost. */
        void sendKill() {
            process.toHandle().destroyForcibly();
        }

        /** Kills it, and reads its remaining output. */
        void kill() throws InterruptedException {
            sendKill();
            assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
            reader.join(60_000);
            assertThat(reader.isAlive()).isFalse();
        }
    }

    @BeforeEach
    void startZooKeeper() throws Exception {
        zooKeeper = new TestingServer(true);
    }

    @AfterEach
    void killAll() throws Exception {
        for (Child child : children) {
            if (child.process != null) {
                child.kill();
            }
        }
        held.forEach(HeldPort::close);
        zooKeeper.close();
    }

    private void begin(String level) throws IOException {
        for (int i = 0; i < LoadedServer.SERVERS; i++) {
            held.add(new HeldPort());
            children.add(new Child("s" + i, held.get(i).number(), level));
        }
        for (Child child : children) {
            child.start();
        }
    }

    private void awaitAcks(int count) {
        awaitAcks(count, children);
    }

    private void awaitAcks(int count, List<Child> some) {
        final Map<Child, Integer> enough = new HashMap<>();
        some.forEach(child -> enough.put(child, child.acks.get() + count));
        await().atMost(Duration.ofSeconds(60))
                .until(() -> !problems.isEmpty()
                        || enough.entrySet().stream()
                                .allMatch(each -> each.getKey().acks.get() >= each.getValue()));
        assertThat(problems).isEmpty();
    }

    private void awaitAllFound() {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            int keys = 0;
            for (Child child : children) {
                keys += child.found.size();
            }
            assertThat(keys).isGreaterThanOrEqualTo(LoadedServer.KEYS);
        });
    }

    @Test
    void shouldFindWhatWasAcknowledgedAfterAllWereKilledUnderLoad() throws Exception {
        begin("PROCESS");
        for (int round = 0; round < TestScale.of(2, 3); round++) {
            awaitAcks(150);
            for (Child child : children) {
                child.sendKill(); // at once, so that each is in the middle of a write
            }
            for (Child child : children) {
                child.kill();
                child.found.clear();
            }
            for (Child child : children) {
                child.start();
            }
            awaitAllFound();
        }
        assertThat(problems).isEmpty();
        assertThat(acked).hasSize(LoadedServer.KEYS);
    }

    @Test
    void shouldGoOnAfterOneWasKilledUnderLoadAndAfterAllWere() throws Exception {
        begin("PROCESS");
        awaitAcks(100);
        final Child victim = children.get(1);
        final List<Child> others =
                children.stream().filter(child -> !child.equals(victim)).toList();
        victim.kill();
        awaitAcks(100, others);
        for (Child child : children) {
            child.kill();
            child.found.clear();
        }
        for (Child child : children) {
            child.start();
        }
        awaitAllFound();
        awaitAcks(100, others);
    }

    @Test
    void shouldSwapPrimariesUnderLoad() throws Exception {
        movingKeys = true;
        begin("PROCESS");
        awaitAcks(50);
        try (ZooKeeperConfigurationStore store =
                new ZooKeeperConfigurationStore(zooKeeper.getConnectString(), "loaded", 10_000)) {
            final PrimaryTransfer swap = new PrimaryTransfer(
                    store,
                    "test",
                    new SplittableRandomSource(5),
                    SystemClock.INSTANCE,
                    ThreadScheduling.INSTANCE::park);
            long before = 0;
            for (int round = 0; round < TestScale.of(3, 6); round++) {
                final Configuration next = swap.transfer(round, -1);
                assertThat(next.term()).isGreaterThan(before);
                before = next.term();
                awaitAcks(50);
            }
        }
        children.forEach(child -> assertThat(child.servings.get()).as("starts").isEqualTo(1));
    }
}
