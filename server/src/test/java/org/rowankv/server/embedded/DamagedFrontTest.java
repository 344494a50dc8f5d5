package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.StoreOpenException;

/**
 * Stores with damage in front of the segments or beside them: opened with all content, or refused with the file's name
 * and without a change. Also clocks that jump.
 */
@Timeout(120)
final class DamagedFrontTest {
    private static final int KEYS = 500;
    private static final long MINUTE_MS = 60_000;
    private static final long HOUR_MS = 60 * MINUTE_MS;

    @TempDir
    private Path temporary;

    private Path dir;
    private int servers = 1;
    private WallClock clock;

    @BeforeEach
    void begin() {
        dir = temporary.resolve("store");
        clock = new WallClock();
    }

    private EmbeddedCluster open() {
        return EmbeddedCluster.open(
                EmbeddedSettings.of(with -> {
                    with.servers = servers;
                    with.replicas = servers;
                    with.shards = 2;
                    with.workers = 2;
                    with.capacityBytes = 2 << 20;
                    with.segmentBytes = 64 << 10;
                    with.dir = dir;
                }),
                EmbeddedContext.of(clock, new SplittableRandomSource(3)));
    }

    /** Closed cleanly, with some objects and a checkpoint. */
    private void create() {
        try (EmbeddedCluster cluster = open();
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int k = 0; k < KEYS; k++) {
                client.put(cache, bytes("k" + k), value("k" + k, k, 300));
            }
        }
    }

    private void requireEverything() {
        try (EmbeddedCluster cluster = open();
                RowanClient client = Stores.client(cluster)) {
            await().until(() -> cluster.configuration().shards().stream()
                    .allMatch(shard ->
                            shard.isComplete(shard.backups().length == 0 ? shard.primary() : shard.backups()[0])));
            final int cache = Stores.cache(client);
            for (int k = 0; k < KEYS; k++) {
                assertThat(client.get(cache, bytes("k" + k))).isEqualTo(value("k" + k, k, 300));
            }
            Stores.requireHealth(cluster);
        }
    }

    private Path area(int server) {
        return dir.resolve("area-" + server + ".rowan");
    }

    private static void flip(Path file, long offset) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(offset);
            final int was = bytes.read();
            bytes.seek(offset);
            bytes.write(was ^ 0x11);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 4096})
    void shouldOpenWithTheOtherCopyOfADamagedSuperblock(long copy) throws IOException {
        create();
        for (int offset = 0; offset < 128; offset += 25) {
            if (offset < 8 || offset >= 12) { // the format version: another one is refused in any case
                flip(area(0), copy + offset);
                requireEverything();
            }
        }
    }

    @Test
    void shouldRefuseAnAreaWithoutAWholeSuperblockAndChangeNothing() throws IOException {
        create();
        flip(area(0), 20);
        flip(area(0), 4096 + 20);
        requireRefused("both copies of the superblock of " + area(0) + " are damaged");
        flip(area(0), 4096 + 20);
        requireEverything();
    }

    /** The tables in front of the segments: the content of a damaged line is not guessed. */
    @ParameterizedTest
    @ValueSource(longs = {8192, 8192 + 4, 12288 + 1, 12288 + 5, 12288 + 8, 12288 + 28})
    void shouldRefuseADamagedTableOrDoWithoutThatServer(long offset) throws IOException {
        create();
        flip(area(0), offset);
        requireRefused("the area " + area(0) + " is damaged");
        flip(area(0), offset);
        requireEverything();
        dir = temporary.resolve("two");
        servers = 2;
        create();
        flip(area(0), offset);
        requireEverything();
        assertThat(area(0).resolveSibling("area-0.rowan.aside")).exists();
    }

    private void requireRefused(String reason) throws IOException {
        final byte[] before = Files.readAllBytes(area(0));
        assertThatThrownBy(this::open).isInstanceOf(StoreOpenException.class).hasMessageContaining(reason);
        assertThat(area(0)).hasBinaryContent(before);
    }

    /** Checkpoints in another server's directory are ignored. */
    @Test
    void shouldNotTakeTheCheckpointOfAnotherArea() throws IOException {
        servers = 2;
        create();
        final Path aside = temporary.resolve("aside");
        Files.move(dir.resolve("checkpoint-0"), aside);
        Files.move(dir.resolve("checkpoint-1"), dir.resolve("checkpoint-0"));
        Files.move(aside, dir.resolve("checkpoint-1"));
        try (Stream<Path> found = Files.list(dir.resolve("checkpoint-0"))) {
            assertThat(found).isNotEmpty();
        }
        try (EmbeddedCluster cluster = open()) {
            assertThat(cluster.checkpoints().loaded()).isZero();
        }
        requireEverything();
        try (EmbeddedCluster cluster = open()) {
            assertThat(cluster.checkpoints().loaded()).isEqualTo(2); // their own again
        }
    }

    /** While open and while closed: nothing ends early, and what has ended stays so. */
    @Test
    void shouldOutliveClocksThatJumpAnHour() {
        try (EmbeddedCluster cluster = open();
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            put(client, cache, "short", 30 * MINUTE_MS);
            put(client, cache, "long", 3 * HOUR_MS);
            client.put(cache, bytes("eternal"), bytes("v"));
            clock.jump(-HOUR_MS);
            requirePresent(client, cache, "short", "long", "eternal");
            put(client, cache, "written an hour ago", 90 * MINUTE_MS);
        }
        clock.jump(-HOUR_MS);
        try (EmbeddedCluster cluster = open();
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            requirePresent(client, cache, "short", "long", "eternal", "written an hour ago");
            clock.jump(3 * HOUR_MS); // an hour before the beginning
            requirePresent(client, cache, "long", "eternal");
            requireAbsent(client, cache, "short", "written an hour ago");
            clock.jump(-HOUR_MS);
            requireAbsent(client, cache, "short", "written an hour ago");
        }
        clock.jump(-HOUR_MS);
        try (EmbeddedCluster cluster = open();
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            requirePresent(client, cache, "long", "eternal");
            requireAbsent(client, cache, "short", "written an hour ago");
            Stores.requireHealth(cluster);
        }
    }

    private static void put(RowanClient client, int cache, String key, long ttlMs) {
        final byte[] name = bytes(key);
        final byte[] value = bytes("v");
        final Request put = new Request();
        client.execute(put.put(cache, name, 0, name.length, value, 0, 1).ttl(ttlMs, ttlMs));
        RowanClient.checkOutcome(put);
    }

    private static void requirePresent(RowanClient client, int cache, String... keys) {
        for (String key : keys) {
            assertThat(client.get(cache, bytes(key))).as(key).isEqualTo(bytes("v"));
        }
    }

    private static void requireAbsent(RowanClient client, int cache, String... keys) {
        for (String key : keys) {
            assertThat(client.get(cache, bytes(key))).as(key).isNull();
        }
    }
}
