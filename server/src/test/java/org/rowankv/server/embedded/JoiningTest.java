package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.server.area.StoreOpenException;

/** Servers with a missing or unusable area join again, and the complete replicas suffice. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class JoiningTest {
    private static final int CAPACITY = 8 << 20;
    private static final long FAST = 1L << 30;
    /** So slow that no copy ends during a check. */
    private static final long SLOW = 1;

    @TempDir
    private Path temporary;

    private final Map<String, Long> model = new HashMap<>();
    private int servers = 3;
    private int replicas = 3;

    private Path dir() {
        return temporary.resolve("store");
    }

    private Consumer<EmbeddedSettings.Builder> builder() {
        return with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.dir = dir();
            with.shards = 6;
            with.workers = 2;
            with.maxMessage = 4096;
            with.capacityBytes = CAPACITY;
        };
    }

    private EmbeddedCluster open(long copyBytesPerSecond) {
        return EmbeddedCluster.open(
                EmbeddedSettings.of(builder()),
                EmbeddedContext.machine().withTuning(with -> with.copyBytesPerSecond = copyBytesPerSecond));
    }

    private Path area(int server) {
        return dir().resolve("area-" + server + ".rowan");
    }

    /** Small objects, and some that are larger than a message. */
    private static int lengthOf(int number) {
        return number % 50 == 0 ? 20_000 : 100 + number % 300;
    }

    private void write(EmbeddedCluster cluster, int from, int count, long round) {
        try (RowanClient client = Stores.client(cluster, round)) {
            final int cache = Stores.cache(client);
            for (int i = from; i < from + count; i++) {
                final String key = "key" + i;
                if ((i + round) % 5 == 0) {
                    client.remove(cache, bytes(key));
                    model.remove(key);
                } else {
                    client.put(cache, bytes(key), Stores.value(key, round, lengthOf(i)));
                    model.put(key, round);
                }
            }
        }
    }

    private void requireModel(EmbeddedCluster cluster) {
        try (RowanClient client = Stores.client(cluster, 99)) {
            final int cache = Stores.cache(client);
            for (int i = 0; i < 2500; i++) {
                final String key = "key" + i;
                final byte[] value = client.get(cache, bytes(key));
                assertThat(value == null ? null : Stores.numberOf(key, value))
                        .as(key)
                        .isEqualTo(model.get(key));
            }
        }
    }

    private void create() {
        try (EmbeddedCluster cluster = open(FAST)) {
            write(cluster, 0, 2000, 1);
            write(cluster, 0, 1000, 2);
        }
    }

    private static boolean isJoining(EmbeddedCluster cluster) {
        for (int server = 0; server < cluster.settings().shape().servers(); server++) {
            if (cluster.configuration().isJoining(server)) {
                return true;
            }
        }
        return false;
    }

    private static void awaitJoined(EmbeddedCluster cluster) {
        await().atMost(Duration.ofSeconds(60)).until(() -> !isJoining(cluster));
        assertThat(cluster.servers()).noneMatch(server -> server.replicas().isJoining());
    }

    private void requireRefused(String... parts) {
        assertThatThrownBy(() -> open(FAST))
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContainingAll(parts);
    }

    @Test
    void shouldDoWithoutAnyOneServer() throws IOException {
        replicas = 2;
        create();
        for (int server = 0; server < servers; server++) {
            Files.delete(area(server));
            try (EmbeddedCluster cluster = open(FAST)) {
                final int lost = server;
                assertThat(cluster.configuration().shards()).noneMatch(shard -> shard.primary() == lost);
                requireModel(cluster);
                write(cluster, 500 * server, 800, 10 + server);
                awaitJoined(cluster);
                // Connections are re-established in a term that has passed.
                cluster.fenceLink(server, (server + 1) % servers);
                cluster.fenceLink((server + 1) % servers, server);
                write(cluster, 500 * server, 800, 15 + server);
                requireModel(cluster);
                Stores.requireHealth(cluster);
                Stores.requireExactSpace(cluster);
            }
        }
        try (EmbeddedCluster cluster = open(FAST)) {
            assertThat(isJoining(cluster)).isFalse();
            for (int shard = 0; shard < 6; shard++) {
                assertThat(cluster.configuration().shard(shard).primary()).isEqualTo(shard % servers);
            }
            requireModel(cluster);
            Stores.requireHealth(cluster);
        }
    }

    @Test
    void shouldStartFromTheOneOfThreeThatIsLeft() throws IOException {
        create();
        for (int left = 0; left < servers; left++) {
            for (int server = 0; server < servers; server++) {
                if (server != left) {
                    Files.delete(area(server));
                }
            }
            try (EmbeddedCluster cluster = open(FAST)) {
                requireModel(cluster);
                write(cluster, 500 * left, 800, 20 + left);
                awaitJoined(cluster);
                requireModel(cluster);
                Stores.requireHealth(cluster);
                Stores.requireExactSpace(cluster);
            }
        }
    }

    @Test
    void shouldServeWhileItCopiesAndMissNothingThatIsWrittenMeanwhile() throws IOException {
        servers = 2;
        replicas = 2;
        create();
        Files.delete(area(0));
        try (EmbeddedCluster cluster = open(200 << 10)) {
            long round = 30;
            // Bounded, for a machine that copies slowly: tombstones are kept while a replica is joining.
            while (isJoining(cluster) && round < 50) {
                write(cluster, (int) (round * 37 % 1500), 300, round++);
                try (RowanClient client = Stores.client(cluster, round)) {
                    final int other =
                            client.catalogue().create("other", new byte[0]).id();
                    client.put(other, bytes("x" + round), new byte[500]);
                    if (round % 3 == 0) {
                        client.clear(other);
                    }
                }
            }
            assertThat(round).as("rounds of writes during the copy").isGreaterThan(31);
            awaitJoined(cluster);
            requireModel(cluster);
            Stores.requireHealth(cluster);
            Stores.requireExactSpace(cluster);
        }
        Files.delete(area(1));
        try (EmbeddedCluster cluster = open(FAST)) {
            requireModel(cluster);
        }
    }

    @Test
    void shouldBeginAgainWhenItEndedWhileJoining() throws IOException {
        servers = 2;
        replicas = 2;
        create();
        Files.delete(area(1));
        for (int round = 0; round < 3; round++) {
            try (EmbeddedCluster cluster = open(SLOW)) {
                assertThat(isJoining(cluster)).isTrue();
                write(cluster, 100 * round, 700, 40 + round);
                requireModel(cluster);
                assertThat(isJoining(cluster)).isTrue();
            }
        }
        // The only complete replica is gone: what the other has received does not suffice.
        final Path elsewhere = Files.move(area(0), temporary.resolve("elsewhere"));
        requireRefused(
                "no complete replica is left of 6 of its 6 shards (0, 1, 2, 3, 4, 5)",
                "area-0.rowan is missing",
                "Server 1 had not yet received its copy");
        assertThat(area(0)).doesNotExist();
        Files.move(elsewhere, area(0));
        try (EmbeddedCluster cluster = open(FAST)) {
            requireModel(cluster);
            awaitJoined(cluster);
            requireModel(cluster);
            Stores.requireHealth(cluster);
            Stores.requireExactSpace(cluster);
        }
        Files.delete(area(0));
        try (EmbeddedCluster cluster = open(FAST)) {
            requireModel(cluster);
        }
    }

    @Test
    void shouldJoinAgainAfterACrashWhileItCopied() throws IOException {
        servers = 2;
        replicas = 2;
        create();
        Files.delete(area(1));
        final Path crashed = temporary.resolve("crashed");
        try (EmbeddedCluster cluster = open(64 << 10)) {
            write(cluster, 0, 500, 50);
            await().until(() -> cluster.servers().get(0).copies().entries() > 100);
            // The bytes after a kill: no writes, only the copy progresses.
            copyTree(dir(), crashed);
            assertThat(isJoining(cluster)).as("the test's own pace").isTrue();
        }
        for (int round = 0; round < 2; round++) {
            try (EmbeddedCluster cluster =
                    EmbeddedCluster.open(EmbeddedSettings.of(builder().andThen(with -> {
                        with.dir = crashed;
                        with.acceptCopied = true;
                        with.acceptUnclean = true;
                    })))) {
                requireModel(cluster);
                awaitJoined(cluster);
                requireModel(cluster);
                Stores.requireHealth(cluster);
            }
        }
    }

    private static void copyTree(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    private static void overwrite(Path file, long at, byte[] bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(bytes), at);
        }
    }

    private void requireJoinsWithTheOldFileAside(int server) throws IOException {
        final byte[] damaged = Files.readAllBytes(area(server));
        try (EmbeddedCluster cluster = open(FAST)) {
            requireModel(cluster);
            awaitJoined(cluster);
            requireModel(cluster);
            Stores.requireHealth(cluster);
        }
        assertThat(dir().resolve("area-" + server + ".rowan.aside")).hasBinaryContent(damaged);
    }

    @Test
    void shouldSetAsideWhatCannotBeUsed() throws IOException {
        create();
        // both copies of the superblock
        overwrite(area(0), 0, new byte[8192]);
        requireJoinsWithTheOldFileAside(0);
        // truncated
        try (FileChannel channel = FileChannel.open(area(1), StandardOpenOption.WRITE)) {
            channel.truncate(CAPACITY / 2);
        }
        requireJoinsWithTheOldFileAside(1);
        // the file of another server
        Files.copy(area(1), area(2), StandardCopyOption.REPLACE_EXISTING);
        requireJoinsWithTheOldFileAside(2);
        // empty
        Files.write(area(0), new byte[0]);
        requireJoinsWithTheOldFileAside(0);
    }

    /** It was the server's own once, and its identity agrees; but the others continued without it. */
    @Test
    void shouldNotBelieveAnAreaFromEarlierDays() throws IOException {
        replicas = 2;
        create();
        final Path old = Files.move(area(1), temporary.resolve("old"));
        try (EmbeddedCluster cluster = open(FAST)) {
            write(cluster, 0, 2000, 60);
            awaitJoined(cluster);
        }
        Files.delete(area(1));
        Files.move(old, area(1));
        requireJoinsWithTheOldFileAside(1);
        try (EmbeddedCluster cluster = open(FAST)) {
            requireModel(cluster);
        }
    }

    @Test
    void shouldRefuseWhatItCouldHarm() throws IOException {
        create();
        final byte[] whole = Files.readAllBytes(area(1));
        // A newer version may read it.
        final byte[] newer = whole.clone();
        newer[8] = 99;
        newer[4096 + 8] = 99;
        Files.write(area(1), newer);
        requireRefused("area-1.rowan", "format version 99");
        assertThat(area(1)).hasBinaryContent(newer);
        // A copy may be in use elsewhere.
        final Path original = Files.move(area(1), temporary.resolve("original"));
        Files.write(original, whole);
        Files.copy(original, area(1));
        requireRefused("area-1.rowan", "copy", "accept-copied=true");
        assertThat(area(1)).hasBinaryContent(whole);
        Files.delete(area(1));
        Files.move(original, area(1));
        try (EmbeddedCluster cluster = open(FAST)) {
            assertThat(isJoining(cluster)).isFalse();
            requireModel(cluster);
        }
    }
}
