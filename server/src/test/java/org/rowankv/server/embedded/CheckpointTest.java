package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.TestScale;

/** A start from a checkpoint finds what a start from the log finds; an unusable checkpoint is skipped. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class CheckpointTest {
    private static final int KEYS = 400;
    /** Per file: truncations, and as many flipped bits. */
    private static final int DAMAGES = TestScale.of(2, 3);

    @TempDir
    private Path parent;

    private Path dir;
    private final Map<String, Long> model = new HashMap<>();
    private long number;

    @BeforeEach
    void makeStore() {
        dir = parent.resolve("store");
        // Two closes, with changes before each: both copies exist.
        for (int i = 0; i < 2; i++) {
            try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(60_000))) {
                change(cluster, 1_500);
            }
        }
    }

    private EmbeddedSettings settings(long checkpointIntervalMs) {
        return EmbeddedSettings.of(with -> {
            with.servers = 1;
            with.dir = dir;
            with.shards = 4;
            with.workers = 2;
            with.capacityBytes = 4 << 20;
            with.checkpointIntervalMs = checkpointIntervalMs;
        });
    }

    private void change(EmbeddedCluster cluster, int count) {
        final Random random = new Random(number);
        try (RowanClient client = Stores.client(cluster, number)) {
            final int cache = Stores.cache(client);
            for (int i = 0; i < count; i++) {
                final String key = "k" + random.nextInt(KEYS);
                if (random.nextInt(4) == 0) {
                    client.remove(cache, bytes(key));
                    model.remove(key);
                } else {
                    client.put(cache, bytes(key), value(key, ++number, 300));
                    model.put(key, number);
                }
            }
        }
    }

    private static void requireModel(EmbeddedCluster cluster, Map<String, Long> expected) {
        final Map<String, Long> found = new HashMap<>();
        try (RowanClient client = Stores.client(cluster, 99)) {
            final int cache = Stores.cache(client);
            for (int i = 0; i < KEYS; i++) {
                final String key = "k" + i;
                final byte[] stored = client.get(cache, bytes(key));
                if (stored != null) {
                    found.put(key, Stores.numberOf(key, stored));
                }
            }
        }
        assertThat(found).isEqualTo(expected);
        assertThat(cluster.errors().distinct()).isEmpty();
        Stores.requireExactSpace(cluster);
    }

    /** Opens the store, expects its content, and whether a checkpoint was used. */
    private void requireOpens(boolean fromCheckpoint) {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(60_000))) {
            assertThat(cluster.checkpoints().loaded()).isEqualTo(fromCheckpoint ? 1 : 0);
            requireModel(cluster, model);
        }
    }

    private Path checkpoints() {
        return dir.resolve("checkpoint-0");
    }

    private List<Path> files(String prefix) throws IOException {
        try (Stream<Path> all = Files.list(checkpoints())) {
            return all.filter(file -> file.getFileName().toString().startsWith(prefix))
                    .sorted()
                    .toList();
        }
    }

    private static long numberOf(Path checkpoint) {
        try {
            return ByteBuffer.wrap(Files.readAllBytes(checkpoint))
                    .order(java.nio.ByteOrder.LITTLE_ENDIAN)
                    .getLong(24);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private List<Path> newestFirst() throws IOException {
        return files("checkpoint-").stream()
                .sorted(Comparator.comparingLong(CheckpointTest::numberOf).reversed())
                .toList();
    }

    private static void flip(Path file, int at) throws IOException {
        final byte[] content = Files.readAllBytes(file);
        content[at] ^= 0x10;
        Files.write(file, content);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path file : all.toList()) {
                final Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }

    @Test
    void shouldStartFromTheCheckpointOfACleanClose() {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(60_000))) {
            assertThat(cluster.checkpoints().loaded()).isEqualTo(1);
            assertThat(cluster.checkpoints().objects()).isEqualTo(model.size());
            requireModel(cluster, model);
            change(cluster, 3_000); // the cleaner has passed long ago
            requireModel(cluster, model);
        }
        requireOpens(true);
    }

    @Test
    void shouldTakeCheckpointsWhileItIsOpen() {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(1))) {
            final long enough = cluster.checkpoints().taken() + 3;
            // However little processor time the checkpoints' thread gets.
            await().atMost(Duration.ofSeconds(120)).until(() -> {
                change(cluster, 100);
                return cluster.checkpoints().taken() >= enough;
            });
            requireModel(cluster, model);
        }
        requireOpens(true);
    }

    @Test
    void shouldFallBackToTheOlderCopyWhenTheNewestIsDamaged() throws IOException {
        flip(newestFirst().get(0), 60);

        requireOpens(true);
    }

    @Test
    void shouldReadTheLogWhenBothCopiesAreDamaged() throws IOException {
        for (Path checkpoint : newestFirst()) {
            flip(checkpoint, (int) Files.size(checkpoint) - 1);
        }

        requireOpens(false);
    }

    @Test
    void shouldSurviveEveryLengthAndEveryDamageOfItsFiles() throws IOException {
        final Path whole = parent.resolve("whole");
        copy(checkpoints(), whole);
        final Random random = new Random(5);
        for (Path file : files("")) {
            final byte[] content = Files.readAllBytes(whole.resolve(file.getFileName()));
            for (int i = 0; i < 2 * DAMAGES; i++) {
                final boolean cut = i < DAMAGES;
                final int at = i == 0 ? 0 : random.nextInt(content.length);
                Files.write(file, cut ? java.util.Arrays.copyOf(content, at) : content);
                if (!cut) {
                    flip(file, at);
                }
                try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(60_000))) {
                    requireModel(cluster, model);
                }
                // The damaged checkpoints, with the area in its present state.
                copy(whole, checkpoints());
            }
        }
    }

    @Test
    void shouldReadTheLogWhenAnImageIsMissing() throws IOException {
        for (Path image : files("shard-1-")) {
            Files.delete(image);
        }

        requireOpens(false);
        requireOpens(true); // its own again
    }

    @Test
    void shouldRefuseACheckpointOfAnotherStore() throws IOException {
        final Path first = dir;
        final Map<String, Long> contents = Map.copyOf(model);
        model.clear();
        dir = parent.resolve("other");
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(60_000))) {
            change(cluster, 2_000);
        }
        final Path foreign = checkpoints();
        dir = first;
        for (Path file : files("")) {
            Files.delete(file);
        }
        copy(foreign, checkpoints());
        model.clear();
        model.putAll(contents);

        requireOpens(false);
        requireOpens(true);
    }

    @Test
    void shouldRefuseACheckpointThatIsNewerThanTheArea() throws IOException {
        for (int opened = 1; opened <= 2; opened++) {
            final Path saved = parent.resolve("saved" + opened);
            copy(dir, saved);
            final Map<String, Long> before = Map.copyOf(model);
            for (int i = 0; i < opened; i++) {
                try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(60_000))) {
                    change(cluster, 2_000);
                }
            }
            // Restored in place, as from a backup, except for the checkpoints.
            for (String name : List.of("area-0.rowan", "rowan.manifest")) {
                Files.write(dir.resolve(name), Files.readAllBytes(saved.resolve(name)));
            }
            copy(saved.resolve("configuration"), dir.resolve("configuration"));
            model.clear();
            model.putAll(before);

            // The older copy matches the area, unless that was overwritten too.
            requireOpens(opened == 1);
        }
    }

    @Test
    void shouldRefuseAnUnknownFormatVersion() throws IOException {
        for (Path checkpoint : newestFirst()) {
            flip(checkpoint, 8);
        }

        requireOpens(false);
    }

    /** No process can remove a non-empty directory, nor a file without permission. */
    private Path putWhatCannotBeRemoved(String name) throws IOException {
        Files.write(Files.createDirectories(checkpoints().resolve(name)).resolve("content"), new byte[1]);
        return checkpoints().resolve(name);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 60_000})
    void shouldStartThoughAnOldFileCannotBeRemoved(long intervalMs) throws IOException {
        final List<Path> stay = List.of(putWhatCannotBeRemoved("checkpoint-old"), putWhatCannotBeRemoved("image-1-1"));
        for (int opened = 0; opened < 2; opened++) {
            try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(intervalMs))) {
                assertThat(cluster.checkpoints().loaded()).isEqualTo(intervalMs == 0 ? 0 : 1);
                requireModel(cluster, model);
                change(cluster, 500);
            }
        }
        assertThat(stay).allMatch(Files::exists);
        if (intervalMs == 0) {
            assertThat(files("")).as("the others are removed").isEqualTo(stay);
        }
    }

    @Test
    void shouldRemoveCheckpointsWhenNoneAreWanted() throws IOException {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(0))) {
            assertThat(files("")).isEmpty();
            change(cluster, 500);
        }
        assertThat(files("")).isEmpty();
        requireOpens(false);
    }
}
