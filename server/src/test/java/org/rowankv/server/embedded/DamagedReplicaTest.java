package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.Server;

/**
 * An entry damaged between its arrival at a backup and its use: the replica lacks an acknowledged write, and no start
 * may count it as complete, however the process has ended.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class DamagedReplicaTest {
    private static final int SHARDS = 6;
    /** So slow that no copy ends during a check. */
    private static final long SLOW = 1;

    @TempDir
    private Path temporary;

    private Path dir() {
        return temporary.resolve("store");
    }

    private static Consumer<EmbeddedSettings.Builder> settings(Path dir, int replicas) {
        return with -> {
            with.servers = 3;
            with.replicas = replicas;
            with.dir = dir;
            with.shards = SHARDS;
            with.workers = 1;
            with.capacityBytes = 4 << 20;
            with.segmentBytes = 64 << 10;
            with.maxMessage = 1024;
            with.scrubMibPerSecond = 0;
        };
    }

    private EmbeddedCluster openUsual(int replicas) {
        return EmbeddedCluster.open(EmbeddedSettings.of(settings(dir(), replicas)));
    }

    private Path area(int server) {
        return dir().resolve("area-" + server + ".rowan");
    }

    private Path aside(int server) {
        return dir().resolve("area-" + server + ".rowan.aside");
    }

    /** Puts value 2 of a key while a backup sleeps, and damages the copy that landed there. */
    private static void putAndDamage(
            EmbeddedCluster cluster, SleepyServers scheduling, RowanClient client, int cache, String key, int backup) {
        client.put(cache, bytes(key), value(key, 1, 300));
        cluster.awaitDigested();
        scheduling.sleep(backup);
        client.put(cache, bytes(key), value(key, 2, 300));
        LandedDamage.flip(cluster.servers().get(backup), Arrays.copyOf(value(key, 2, 300), 64));
    }

    /** Every other replica of the key's shard has it, and has the CommitVer that covers it. */
    private static void awaitCommitted(EmbeddedCluster cluster, int shard, int but) {
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            cluster.servers().forEach(Server::wakeUp);
            return cluster.servers().stream()
                    .filter(server ->
                            server.serverId() != but && server.replicas().has(shard))
                    .filter(server -> !server.isPrimary(shard))
                    .allMatch(server -> server.replicas().get(shard).commitVersion()
                            >= cluster.servers()
                                    .get(cluster.configuration().shard(shard).primary())
                                    .lastVersion(shard));
        });
    }

    private static void meetDamage(EmbeddedCluster cluster, SleepyServers scheduling, int backup) {
        scheduling.awake(backup);
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            cluster.servers().forEach(Server::wakeUp);
            return cluster.servers().get(backup).isStopped();
        });
    }

    private void requireMadeAnew(Durability level, int joins, String... keys) {
        try (EmbeddedCluster again = EmbeddedCluster.open(
                EmbeddedSettings.of(settings(dir(), 3).andThen(with -> with.durability = level)))) {
            await().atMost(Duration.ofSeconds(30)).until(() -> again.joinsCompleted() == joins);
            final RowanClient reader = Stores.client(again, 8);
            final int cache = Stores.cache(reader);
            for (String key : keys) {
                assertThat(numberOf(key, reader.get(cache, bytes(key)))).isEqualTo(2);
            }
            Stores.requireHealth(again);
        }
    }

    /**
     * The effects of a close are dropped: only the area's own mark remains. At level power a start could not
     * distinguish damaged entries from torn ones.
     */
    @ParameterizedTest
    @EnumSource(
            value = Durability.class,
            names = {"PROCESS", "POWER"})
    void shouldNotCountAReplicaOfAProcessThatWasKilledOverTheDamage(Durability level) throws Exception {
        final Path output = temporary.resolve("output");
        final Process child = new ProcessBuilder(
                        System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        dir().toString(),
                        level.name())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(child.waitFor(90, TimeUnit.SECONDS)).isTrue();
        } finally {
            child.destroyForcibly();
        }
        final String printed = Files.readString(output, StandardCharsets.UTF_8);
        assertThat(child.exitValue()).as(printed).isEqualTo(Child.KILLED);
        requireMadeAnew(
                level, 1, printed.substring(printed.indexOf("key=") + 4).trim().split("\\s")[0]);
        assertThat(aside(1)).exists();
    }

    /** Damages an entry landed at server 1, and ends without a close as soon as that is found. */
    static final class Child {
        static final int KILLED = 9;

        private Child() {}

        public static void main(String[] args) {
            final SleepyServers scheduling = new SleepyServers();
            final EmbeddedCluster cluster = EmbeddedCluster.open(
                    EmbeddedSettings.of(settings(Path.of(args[0]), 3)
                            .andThen(with -> with.durability = Durability.valueOf(args[1]))),
                    scheduling.around());
            final RowanClient client = Stores.client(cluster);
            final int cache = Stores.cache(client);
            final String key = LandedDamage.keyOf(cluster, client, cache, 0, 1);
            System.out.println("key=" + key);
            putAndDamage(cluster, scheduling, client, cache, key, 1);
            awaitCommitted(cluster, LandedDamage.shardOf(client, cache, key), 1);
            meetDamage(cluster, scheduling, 1);
            Runtime.getRuntime().halt(KILLED);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldMakeEveryDamagedReplicaAnewAfterAClose(int damaged) {
        final SleepyServers scheduling = new SleepyServers();
        final EmbeddedCluster cluster =
                EmbeddedCluster.open(EmbeddedSettings.of(settings(dir(), 3)), scheduling.around());
        final RowanClient client = Stores.client(cluster);
        final int cache = Stores.cache(client);
        final String key = LandedDamage.keyOf(cluster, client, cache, 0, 1);
        client.put(cache, bytes(key), value(key, 1, 300));
        cluster.awaitDigested();
        scheduling.sleep(1);
        scheduling.sleep(2);
        client.put(cache, bytes(key), value(key, 2, 300));
        for (int backup = 1; backup <= damaged; backup++) {
            LandedDamage.flip(cluster.servers().get(backup), Arrays.copyOf(value(key, 2, 300), 64));
        }
        // Each of them meets its own damaged entry.
        for (int backup = 1; backup <= damaged; backup++) {
            scheduling.awake(backup);
            final Server server = cluster.servers().get(backup);
            server.wakeUp();
            server.wakeUp();
        }
        assertThatThrownBy(() -> client.get(cache, bytes(key)))
                .isInstanceOf(RowanException.class)
                .hasMessageContaining("landed");
        cluster.close();
        requireMadeAnew(Durability.PROCESS, damaged, key);
        assertThat(aside(1)).exists();
        if (damaged == 2) {
            assertThat(aside(2)).exists();
        }
    }

    /** Server 2 is being copied: of their common shards, server 1 has the only complete replica. */
    @Test
    void shouldKeepTheOnlyCompleteReplicaOfAShard() throws IOException {
        openUsual(2).close();
        final String here;
        final String other;
        try (EmbeddedCluster cluster = openUsual(2);
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            here = LandedDamage.keyOf(cluster, client, cache, 0, 1);
            other = LandedDamage.keyOf(cluster, client, cache, 1, 2);
            client.put(cache, bytes(other), value(other, 2, 300));
        }
        Files.delete(area(2));
        final SleepyServers scheduling = new SleepyServers();
        final EmbeddedCluster cluster = EmbeddedCluster.open(
                EmbeddedSettings.of(settings(dir(), 2)),
                scheduling.around().withTuning(with -> with.copyBytesPerSecond = SLOW));
        final RowanClient client = Stores.client(cluster);
        final int cache = Stores.cache(client);
        putAndDamage(cluster, scheduling, client, cache, here, 1);
        meetDamage(cluster, scheduling, 1);
        cluster.close();
        assertThat(area(1)).exists();
        assertThat(aside(1)).doesNotExist();
        final byte[] before = Files.readAllBytes(area(1));
        assertThatThrownBy(() -> openUsual(2))
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContainingAll(
                        "no complete replica is left",
                        "area-1.rowan lacks",
                        "accept-unclean=true",
                        "Server 2 had not yet received its copy");
        assertThat(area(1)).hasBinaryContent(before);
        // With the override it serves shards without a complete replica, and is copied where another is complete.
        try (EmbeddedCluster again = EmbeddedCluster.open(
                EmbeddedSettings.of(settings(dir(), 2).andThen(with -> with.acceptUnclean = true)))) {
            final RowanClient reader = Stores.client(again, 8);
            final int found = Stores.cache(reader);
            assertThat(numberOf(here, reader.get(found, bytes(here)))).isEqualTo(2);
            assertThat(numberOf(other, reader.get(found, bytes(other)))).isEqualTo(2);
            await().atMost(Duration.ofSeconds(30)).until(() -> again.joinsCompleted() == 2);
            Stores.requireHealth(again);
        }
        // Once is enough.
        try (EmbeddedCluster again = openUsual(2)) {
            assertThat(again.joinsCompleted()).isZero();
            Stores.requireHealth(again);
        }
    }

    /** Damage that no digest has met, as after a kill -9: the start itself finds it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldMakeAReplicaAnewInWhichAStartFindsWhatLandedDamaged(int damaged) throws IOException {
        final String key;
        try (EmbeddedCluster cluster = openWithoutCheckpoints();
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            key = LandedDamage.keyOf(cluster, client, cache, 0, 1);
            client.put(cache, bytes(key), value(key, 2, 300));
        }
        for (int server = 1; server <= damaged; server++) {
            LandedDamage.flipInFile(dir(), server, Arrays.copyOf(value(key, 2, 300), 64));
        }
        try (EmbeddedCluster again = openWithoutCheckpoints()) {
            await().atMost(Duration.ofSeconds(30)).until(() -> again.joinsCompleted() == damaged);
            final RowanClient reader = Stores.client(again, 8);
            assertThat(numberOf(key, reader.get(Stores.cache(reader), bytes(key))))
                    .isEqualTo(2);
            Stores.requireHealth(again);
        }
        for (int server = 1; server <= 2; server++) {
            assertThat(Files.exists(aside(server))).isEqualTo(server <= damaged);
        }
    }

    /**
     * Each server lacks an entry; the first is marked since its last use, or not. The store is refused, with all files
     * in place, and opened with the override.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseAStoreInWhichEveryReplicaIsDamaged(boolean firstIsMarked) throws IOException {
        final List<String> keys = new ArrayList<>();
        try (EmbeddedCluster cluster = openWithoutCheckpoints();
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int backup = 0; backup < 3; backup++) {
                keys.add(LandedDamage.keyOf(cluster, client, cache, (backup + 1) % 3, backup));
                if (!firstIsMarked) {
                    client.put(cache, bytes(keys.get(backup)), value(keys.get(backup), 2, 300));
                }
            }
        }
        if (firstIsMarked) {
            final SleepyServers scheduling = new SleepyServers();
            final EmbeddedCluster cluster = EmbeddedCluster.open(
                    EmbeddedSettings.of(settings(dir(), 3).andThen(with -> with.checkpointIntervalMs = 0)),
                    scheduling.around());
            final RowanClient client = Stores.client(cluster, 8);
            final int cache = Stores.cache(client);
            for (String key : keys.subList(1, 3)) {
                client.put(cache, bytes(key), value(key, 2, 300));
            }
            putAndDamage(cluster, scheduling, client, cache, keys.get(0), 0);
            meetDamage(cluster, scheduling, 0);
            cluster.close();
        }
        for (int server = firstIsMarked ? 1 : 0; server < 3; server++) {
            LandedDamage.flipInFile(dir(), server, Arrays.copyOf(value(keys.get(server), 2, 300), 64));
        }
        for (int attempt = 0; attempt < 2; attempt++) {
            assertThatThrownBy(this::openWithoutCheckpoints)
                    .isInstanceOf(StoreOpenException.class)
                    .hasMessageContainingAll(
                            "no complete replica is left of 6 of its 6 shards",
                            "area-0.rowan lacks",
                            "area-1.rowan lacks",
                            "area-2.rowan lacks",
                            "accept-unclean=true");
            for (int server = 0; server < 3; server++) {
                assertThat(aside(server)).doesNotExist();
            }
        }
        try (EmbeddedCluster again =
                EmbeddedCluster.open(EmbeddedSettings.of(settings(dir(), 3).andThen(with -> {
                    with.checkpointIntervalMs = 0;
                    with.acceptUnclean = true;
                })))) {
            // The primary of each has it in a log of its own.
            final RowanClient reader = Stores.client(again, 8);
            final int cache = Stores.cache(reader);
            for (String key : keys) {
                assertThat(numberOf(key, reader.get(cache, bytes(key)))).isEqualTo(2);
            }
        }
        openWithoutCheckpoints().close();
    }

    private EmbeddedCluster openWithoutCheckpoints() {
        return EmbeddedCluster.open(
                EmbeddedSettings.of(settings(dir(), 3).andThen(with -> with.checkpointIntervalMs = 0)));
    }
}
