package org.rowankv.server.configstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileConfigurationStoreTest extends ConfigurationStoreContract {
    @TempDir
    Path parent;

    private Path directory;
    private FileConfigurationStore store;

    @BeforeEach
    void open() {
        directory = parent.resolve("configuration");
        store = new FileConfigurationStore(directory);
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Override
    protected ConfigurationStore store() {
        return store;
    }

    private void reopen() {
        store.close();
        store = new FileConfigurationStore(directory);
    }

    private List<Path> files() throws IOException {
        final List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
            found.forEach(files::add);
        }
        return files;
    }

    @Test
    void shouldFindEverythingAgain() {
        store.compareAndSet("/a/b", ConfigurationStore.ABSENT, bytes(1, 2), new Stamp("schön", 5));
        store.compareAndSet("/a", ConfigurationStore.ABSENT, bytes(), STAMP);
        store.compareAndSet("/gone", ConfigurationStore.ABSENT, bytes(), STAMP);
        final VersionedNode before = store.read("/a/b");
        store.delete("/gone", versionOf("/gone"));
        reopen();
        assertThat(store.read("/a/b")).isEqualTo(before);
        assertThat(store.list("/a")).containsExactly("/a/b");
        assertThat(store.read("/gone")).isNull();
        assertThat(store.compareAndSet("/a/b", before.version(), bytes(3), STAMP))
                .isTrue();
        assertThat(versionOf("/a/b")).isGreaterThan(before.version());
    }

    /** Otherwise a writer that has read the newest node could replace a later write at the same version. */
    @Test
    void shouldGiveNoVersionTwiceInWhateverOrderItMeetsItsNodes() throws IOException {
        final int nodes = 5;
        for (int i = 0; i < nodes; i++) {
            store.compareAndSet("/n" + i, ConfigurationStore.ABSENT, bytes(i), STAMP);
        }
        for (int i = 0; i < nodes; i++) {
            final String newest = "/n" + i;
            store.compareAndSet(newest, versionOf(newest), bytes(i), STAMP);
            final long version = versionOf(newest);
            store.close();
            putAllButOneBack(directory.resolve("n" + i + ".node"));
            store = new FileConfigurationStore(directory);
            store.compareAndSet("/next" + i, ConfigurationStore.ABSENT, bytes(), STAMP);
            assertThat(versionOf("/next" + i)).isGreaterThan(version);
            store.delete("/next" + i, versionOf("/next" + i));
        }
    }

    /** A directory may list its files in order of creation, in reverse, or in any order. */
    private void putAllButOneBack(Path file) throws IOException {
        for (Path other : files()) {
            if (!other.equals(file)) {
                final Path away = parent.resolve(other.getFileName());
                Files.move(other, away);
                Files.move(away, other);
            }
        }
    }

    @Test
    void shouldNameADamagedNodeWhenItIsOpened() throws IOException {
        store.compareAndSet("/a", ConfigurationStore.ABSENT, bytes(1, 2, 3), STAMP);
        store.close();
        final Path file = files().get(0);
        final byte[] undamaged = Files.readAllBytes(file);
        for (int bit = 0; bit < undamaged.length * Byte.SIZE; bit++) {
            final byte[] damaged = undamaged.clone();
            damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThat(NodeDescriptor.whyInvalid(damaged)).as("bit %d", bit).isNotNull();
        }
        for (int length : new int[] {0, 10, undamaged.length - 1}) {
            Files.write(file, Arrays.copyOf(undamaged, length));
            assertThatThrownBy(() -> new FileConfigurationStore(directory))
                    .isInstanceOf(ConfigurationStoreException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining("backup");
        }
        Files.write(file, undamaged);
        store = new FileConfigurationStore(directory);
        assertThat(store.read("/a").bytes()).isEqualTo(bytes(1, 2, 3));
    }

    @Test
    void shouldRefuseAnUnknownFormatVersion() throws IOException {
        store.compareAndSet("/a", ConfigurationStore.ABSENT, bytes(1), STAMP);
        store.close();
        final Path file = files().get(0);
        final byte[] bytes = Files.readAllBytes(file);
        bytes[NodeDescriptor.FORMAT_VERSION_OFFSET] = 2;
        Files.write(file, bytes);
        assertThatThrownBy(() -> new FileConfigurationStore(directory))
                .hasMessageContaining("format version 2")
                .hasMessageContaining("the version that wrote it");
    }

    @Test
    void shouldRefuseARenamedNode() throws IOException {
        store.compareAndSet("/a", ConfigurationStore.ABSENT, bytes(1), STAMP);
        store.close();
        Files.move(directory.resolve("a.node"), directory.resolve("b.node"));
        assertThatThrownBy(() -> new FileConfigurationStore(directory)).hasMessageContaining("renamed");
    }

    @Test
    void shouldForgetWhatACrashLeftHalfWritten() throws IOException {
        Files.write(directory.resolve("a.node.tmp"), bytes(1));
        Files.write(directory.resolve("foreign notes"), bytes(1));
        reopen();
        assertThat(store.list("/")).isEmpty();
        assertThat(files()).containsExactly(directory.resolve("foreign notes"));
    }

    @Test
    void shouldReportAFailedWriteAndStayAsItWas() throws IOException {
        store.compareAndSet("/a", ConfigurationStore.ABSENT, bytes(1), STAMP);
        final long version = versionOf("/a");
        // Blocks the temporary file.
        final Path obstacle = directory.resolve("a.node.tmp");
        Files.createDirectory(obstacle);
        Files.write(obstacle.resolve("x"), bytes());
        assertThatThrownBy(() -> store.compareAndSet("/a", version, bytes(2), STAMP))
                .isInstanceOf(ConfigurationStoreException.class);
        assertThat(store.read("/a")).isEqualTo(new VersionedNode(bytes(1), version, STAMP));
        Files.delete(obstacle.resolve("x"));
        Files.delete(obstacle);
        assertThat(store.compareAndSet("/a", version, bytes(2), STAMP)).isTrue();
    }

    @Test
    void shouldSayNothingMoreOnceItIsNotKnownWhatTheDiskHolds() throws IOException {
        store.compareAndSet("/a", ConfigurationStore.ABSENT, bytes(1), STAMP);
        final Path file = directory.resolve("a.node");
        Files.delete(file);
        Files.createDirectory(file);
        Files.write(file.resolve("x"), bytes());
        assertThatThrownBy(() -> store.compareAndSet("/a", versionOf("/a"), bytes(2), STAMP))
                .isInstanceOf(ConfigurationStoreException.class);
        assertThatThrownBy(() -> store.read("/a"))
                .isInstanceOf(ConfigurationStoreException.class)
                .hasMessageContaining("open it again");
        assertThatThrownBy(() -> store.list("/")).isInstanceOf(ConfigurationStoreException.class);
    }

    @Test
    void shouldEndItsThreadAndRefuseWritesWhenClosed() throws InterruptedException {
        final Thread thread = Thread.getAllStackTraces().keySet().stream()
                .filter(each ->
                        each.getName().equals("rowan-configuration " + directory)) // other tests have stores too
                .findAny()
                .orElseThrow();
        store.close();
        assertThatThrownBy(() -> store.compareAndSet("/a", ConfigurationStore.ABSENT, bytes(1), STAMP))
                .hasMessageContaining("closed");
        thread.join(60_000);
        assertThat(thread.isAlive()).isFalse();
    }
}
