package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.directory.StoreDirectory;
import org.rowankv.server.directory.StoreShape;
import org.rowankv.server.engine.Server;

/**
 * Servers 0 and 2 are marked as incomplete; server 1 is incomplete too, which its start finds. A start with overrides
 * first counts server 1 as complete, so that the others join. It must change nothing until all areas are read.
 */
@Tag("chaos")
@Timeout(value = 240, unit = TimeUnit.SECONDS)
final class ConsentedStartTest {
    private static final int SHARDS = 6;
    private static final int SERVERS = 3;
    private static final int CAPACITY = 4 << 20;
    private static final int SEGMENT = 64 << 10;
    /** More than a segment of them. */
    private static final int MANY = 400;
    /** A start reads segments often, and each read is much like the last. */
    private static final int EVERY = 5;

    @TempDir
    private Path temporary;

    private final List<String> keys = new ArrayList<>();

    private Path dir() {
        return temporary.resolve("store");
    }

    private Consumer<EmbeddedSettings.Builder> settings() {
        return with -> {
            with.servers = SERVERS;
            with.replicas = 2;
            with.dir = dir();
            with.shards = SHARDS;
            with.workers = 1;
            with.capacityBytes = CAPACITY;
            with.segmentBytes = SEGMENT;
            with.maxMessage = 1024;
            with.checkpointIntervalMs = 0;
            with.scrubMibPerSecond = 0;
        };
    }

    @BeforeEach
    void damage() throws IOException {
        final SleepyServers scheduling = new SleepyServers();
        final EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(settings()), scheduling.around());
        final RowanClient client = Stores.client(cluster);
        final int cache = Stores.cache(client);
        final int shard = LandedDamage.shardOf(client, cache, LandedDamage.keyOf(cluster, client, cache, 0, 1));
        for (int i = 0; keys.size() < MANY; i++) {
            if (LandedDamage.shardOf(client, cache, "many" + i) == shard) {
                keys.add("many" + i);
                client.put(cache, bytes("many" + i), value("many" + i, 2, 300));
            }
        }
        cluster.awaitDigested();
        scheduling.sleep(0);
        scheduling.sleep(2);
        for (int backup : new int[] {0, 2}) {
            final String key = LandedDamage.keyOf(cluster, client, cache, 1, backup);
            keys.add(key);
            client.put(cache, bytes(key), value(key, 2, 300));
            LandedDamage.flip(cluster.servers().get(backup), Arrays.copyOf(value(key, 2, 300), 64));
        }
        for (int backup : new int[] {0, 2}) {
            scheduling.awake(backup);
            final Server server = cluster.servers().get(backup);
            server.wakeUp();
            server.wakeUp();
        }
        assertThatThrownBy(() -> client.get(cache, bytes(keys.get(0))))
                .isInstanceOf(RowanException.class)
                .hasMessageContaining("landed");
        cluster.close();
        LandedDamage.flipInFile(dir(), 1, Arrays.copyOf(value(keys.get(0), 2, 300), 64));
    }

    @AfterEach
    void leave() {
        Chaos.reset();
    }

    private void requireAll(String when) {
        try (EmbeddedCluster cluster =
                EmbeddedCluster.open(EmbeddedSettings.of(settings().andThen(with -> with.acceptUnclean = true)))) {
            final RowanClient reader = Stores.client(cluster, 8);
            final int cache = Stores.cache(reader);
            int absent = 0;
            for (String key : keys) {
                final byte[] found = reader.get(cache, bytes(key));
                absent += found == null ? 1 : 0;
                assertThat(found == null ? 2 : numberOf(key, found)).isEqualTo(2);
            }
            assertThat(absent).as("absent of %s, %s", keys.size(), when).isZero();
            for (Server server : cluster.servers()) {
                for (int shard = 0; shard < SHARDS; shard++) {
                    if (server.replicas().has(shard)) {
                        assertThat(server.segments().area().tenures().tenure(shard))
                                .isEqualTo(server.replicas().get(shard).tenure());
                    }
                }
            }
        }
    }

    @Test
    void shouldKeepWhatAReplicaHoldsThatWasToJoinUntilItsSourceWasFoundDamaged() {
        requireAll("after a start that found damage");
        EmbeddedCluster.open(EmbeddedSettings.of(settings())).close();
    }

    /**
     * Interrupted at any point, without a close that would change a byte; then the operator retries. Not between two
     * areas whose marks the override ends: from then on it covers what each of these lacks.
     */
    @Test
    void shouldKeepItWhereverAStartIsBrokenOff() throws IOException {
        final Path found = temporary.resolve("found");
        copy(dir(), found);
        boolean broken = true;
        for (int point = 1; broken; point++) {
            final AtomicInteger left = new AtomicInteger(point);
            final AtomicInteger read = new AtomicInteger();
            final StringBuffer where = new StringBuffer();
            Chaos.install(name -> {
                if (name.startsWith("start.")
                        && !name.equals("start.term")
                        && (!name.equals("start.segment-read") || read.incrementAndGet() % EVERY == 0)
                        && left.decrementAndGet() == 0) {
                    where.append(name);
                    throw new IllegalStateException("planted");
                }
            });
            try {
                EmbeddedCluster.open(EmbeddedSettings.of(settings().andThen(with -> with.acceptUnclean = true)))
                        .close();
                broken = false;
            } catch (IllegalStateException e) {
                assertThat(e).hasStackTraceContaining("planted");
            }
            Chaos.reset();
            requireAll("after one that ended at " + where + ", point " + point);
            copy(found, dir());
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (DirectoryStream<Path> there = Files.newDirectoryStream(to)) {
            for (Path each : there) {
                if (Files.isRegularFile(each) && Files.notExists(from.resolve(each.getFileName()))) {
                    Files.delete(each);
                }
            }
        }
        try (DirectoryStream<Path> there = Files.newDirectoryStream(from)) {
            for (Path each : there) {
                if (Files.isDirectory(each)) {
                    copy(each, to.resolve(each.getFileName()));
                } else {
                    overwrite(each, to.resolve(each.getFileName()));
                }
            }
        }
    }

    /** In place where a file exists: an area is bound to its file. */
    private static void overwrite(Path from, Path to) throws IOException {
        if (Files.exists(to)) {
            Files.write(to, Files.readAllBytes(from));
        } else {
            Files.copy(from, to, StandardCopyOption.COPY_ATTRIBUTES);
        }
    }

    /** A tenure later than the configuration: what it voids may be the only copy. */
    @Test
    void shouldRefuseAnAreaWithATenureAheadOfTheConfiguration() {
        try (StoreDirectory directory = StoreDirectory.open(
                        dir(), new StoreShape(SERVERS, 2, CAPACITY, SHARDS, SEGMENT), true, SecureSeed.source());
                Area area = Area.open(directory.areaSettings(1), new OpenOverrides(true, false))) {
            area.tenures().set(1, 77);
        }
        assertThatThrownBy(() -> EmbeddedCluster.open(
                        EmbeddedSettings.of(settings().andThen(with -> with.acceptUnclean = true))))
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContainingAll(
                        "server 1", "shard 1", "epoch 77", "older than the data", "put the newest one back");
    }
}
