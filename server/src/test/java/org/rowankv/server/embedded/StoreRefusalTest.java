package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.configstore.ConfigurationStoreException;

/** Every refusal to open a store states the cause and the remedy; it leaves the store unchanged. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class StoreRefusalTest {
    private static final int CAPACITY = 4 << 20;

    @TempDir
    private Path temporary;

    private Path dir;

    private Consumer<EmbeddedSettings.Builder> builder() {
        return with -> {
            with.servers = 3;
            with.replicas = 2;
            with.dir = dir;
            with.shards = 6;
            with.workers = 4;
            with.capacityBytes = CAPACITY;
        };
    }

    @BeforeEach
    void createStore() {
        dir = temporary.resolve("store");
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(builder()));
                RowanClient client = Stores.client(cluster)) {
            client.put(Stores.cache(client), bytes("k"), bytes("v"));
        }
    }

    @AfterEach
    void shouldOpenProperlyAfterwards() {
        await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .noneMatch(name -> name.startsWith("rowan-")));
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(builder()));
                RowanClient client = Stores.client(cluster)) {
            assertThat(client.get(Stores.cache(client), bytes("k"))).isEqualTo(bytes("v"));
        }
    }

    private static void refused(EmbeddedSettings settings, String... parts) {
        assertThatThrownBy(() -> EmbeddedCluster.open(settings))
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContainingAll(parts);
    }

    private void refused(Consumer<EmbeddedSettings.Builder> change, String... parts) {
        refused(EmbeddedSettings.of(builder().andThen(change)), parts);
    }

    @Test
    void shouldRefuseAnotherShape() {
        refused(settings -> settings.servers = 4, "servers 3", "4");
        refused(settings -> settings.replicas = 3, "replicas 2", "3");
        refused(settings -> settings.capacityBytes = 2 * CAPACITY, "capacity " + CAPACITY, "" + 2 * CAPACITY);
        refused(settings -> settings.shards = 7, "shards 6", "7");
        refused(settings -> settings.segmentBytes = 128 << 10, "segment", "" + (128 << 10));
    }

    @Test
    void shouldTakeOtherProcessValues() {
        try (EmbeddedCluster cluster =
                        EmbeddedCluster.open(EmbeddedSettings.of(builder().andThen(with -> {
                            with.workers = 2;
                            with.maxMessage = 512;
                        })));
                RowanClient client = Stores.client(cluster)) {
            assertThat(client.get(Stores.cache(client), bytes("k"))).isEqualTo(bytes("v"));
        }
    }

    @Test
    void shouldRefuseADirectoryThatIsOpenUnderAnySpelling() throws IOException {
        final Path link = Files.createSymbolicLink(temporary.resolve("link"), dir);
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(builder()))) {
            for (Path spelling : List.of(dir, dir.resolve("..").resolve("store"), link, link.resolve("."))) {
                refused(settings -> settings.dir = spelling, "open", "store");
            }
            Stores.requireHealth(cluster);
        }
    }

    /** Holds a store open until its input ends. */
    public static final class Holder {
        private Holder() {}

        public static void main(String[] args) throws IOException {
            final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
                with.servers = 3;
                with.replicas = 2;
                with.dir = Path.of(args[0]);
                with.shards = 6;
                with.workers = 4;
                with.capacityBytes = CAPACITY;
            });
            try (EmbeddedCluster cluster = EmbeddedCluster.open(settings)) {
                System.out.println("open " + cluster.configuration().term());
                while (System.in.read() >= 0) {
                    // until the parent closes its end
                }
            }
        }
    }

    @Test
    void shouldRefuseADirectoryThatAnotherProcessHasOpen() throws Exception {
        final Process holder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        dir.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(holder.getInputStream(), StandardCharsets.UTF_8))) {
            assertThat(output.readLine()).startsWith("open");
            refused(settings -> {}, "" + holder.pid());
        } finally {
            holder.getOutputStream().close();
            assertThat(holder.waitFor()).isZero();
        }
    }

    @Test
    void shouldRefuseACopy() throws IOException {
        final Path copy = temporary.resolve("copy");
        copyTree(dir, copy);
        refused(settings -> settings.dir = copy, "copy", "accept-copied");
        try (EmbeddedCluster cluster =
                        EmbeddedCluster.open(EmbeddedSettings.of(builder().andThen(with -> {
                            with.dir = copy;
                            with.acceptCopied = true;
                        })));
                RowanClient client = Stores.client(cluster)) {
            assertThat(client.get(Stores.cache(client), bytes("k"))).isEqualTo(bytes("v"));
        }
    }

    private static void copyTree(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    @Test
    void shouldRefuseWhereNoCompleteReplicaIsLeft() throws IOException {
        final Path missing = dir.resolve("area-1.rowan");
        final Path aside = Files.move(missing, temporary.resolve("elsewhere"));
        final Path truncated = dir.resolve("area-2.rowan");
        final byte[] whole = Files.readAllBytes(truncated);
        try (FileChannel channel = FileChannel.open(truncated, StandardOpenOption.WRITE)) {
            channel.truncate(whole.length / 2);
        }
        // Of six shards on three servers, two have both of their replicas on these two.
        refused(
                settings -> {},
                "no complete replica is left of 2 of its 6 shards (1, 5)",
                "area-1.rowan is missing",
                "put it back",
                "area-2.rowan",
                "" + whole.length / 2,
                "" + whole.length);
        assertThat(missing).doesNotExist();
        Files.move(aside, missing);
        try (FileChannel channel = FileChannel.open(truncated, StandardOpenOption.WRITE)) {
            channel.write(java.nio.ByteBuffer.wrap(whole));
        }
    }

    @Test
    void shouldRefuseAConfigurationOlderThanTheData() throws IOException {
        final Path configuration = dir.resolve("configuration");
        final Path old = temporary.resolve("old");
        copyTree(configuration, old);
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(builder()))) {
            Stores.requireHealth(cluster);
        }
        final Path newest = Files.move(configuration, temporary.resolve("newest"));
        copyTree(old, configuration);
        refused(settings -> {}, "older than the data", "put the newest one back");
        delete(configuration);
        Files.move(newest, configuration);
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void shouldRefuseTheConfigurationOfAnotherStore() throws IOException {
        final Path other = temporary.resolve("other");
        EmbeddedCluster.open(EmbeddedSettings.of(builder().andThen(with -> with.dir = other)))
                .close();
        final Path configuration = dir.resolve("configuration");
        final Path own = Files.move(configuration, temporary.resolve("own"));
        copyTree(other.resolve("configuration"), configuration);
        refused(settings -> {}, "of another store", "put the right one back");
        delete(configuration);
        Files.move(own, configuration);
    }

    @Test
    void shouldSayWhatIsWrongWithTheConfigurationOrDoWithout() throws IOException {
        final List<Path> files;
        try (Stream<Path> found = Files.walk(dir.resolve("configuration"))) {
            files = found.filter(Files::isRegularFile).map(dir::relativize).toList();
        }
        assertThat(files).isNotEmpty();
        int copies = 0;
        for (Path file : files) {
            for (int damage = 0; damage < 3; damage++) {
                final Path copy = temporary.resolve("copy" + copies++);
                copyTree(dir, copy);
                final Path damaged = copy.resolve(file.toString());
                final byte[] bytes = Files.readAllBytes(damaged);
                switch (damage) {
                    case 0 -> Files.delete(damaged);
                    case 1 -> {
                        bytes[bytes.length / 2] ^= 1;
                        Files.write(damaged, bytes);
                    }
                    default -> Files.write(damaged, Arrays.copyOf(bytes, bytes.length / 2));
                }
                try (EmbeddedCluster cluster = EmbeddedCluster.open(
                                EmbeddedSettings.of(builder().andThen(with -> {
                                    with.dir = copy;
                                    with.acceptCopied = true;
                                })));
                        RowanClient client = Stores.client(cluster)) {
                    assertThat(client.get(Stores.cache(client), bytes("k"))).isIn(bytes("v"), null);
                } catch (StoreOpenException | ConfigurationStoreException e) {
                    assertThat(e.getMessage()).contains(copy.toString());
                }
            }
        }
    }

    @Test
    void shouldRefuseAFileAndAForeignDirectory() throws IOException {
        final Path file = Files.writeString(temporary.resolve("file"), "text");
        refused(settings -> settings.dir = file, "is a file");
        final Path foreign = Files.createDirectory(temporary.resolve("foreign"));
        Files.writeString(foreign.resolve("notes.txt"), "text");
        refused(settings -> settings.dir = foreign, "notes.txt");
        assertThat(foreign).isDirectoryNotContaining("glob:**rowan*");
    }
}
