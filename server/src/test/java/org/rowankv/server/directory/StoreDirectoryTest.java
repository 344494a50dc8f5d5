package org.rowankv.server.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.FileIdentity;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.durability.Fixtures;

/** Invalid directories: each is refused with a remedy, and afterwards the store opens properly. */
@Tag("jvm")
class StoreDirectoryTest {
    private static final StoreShape SHAPE = new StoreShape(2, 2, 1 << 20, 16, 64 << 10);

    @TempDir
    Path parent;

    private Path directory;
    private long clusterId;

    @BeforeEach
    void createStore() {
        directory = parent.resolve("store");
        try (StoreDirectory store = open(directory)) {
            assertThat(store.isNew()).isTrue();
            createAreas(store);
            store.markComplete();
            assertThat(store.isNew()).isFalse();
            clusterId = store.clusterId();
        }
    }

    @AfterEach
    void shouldOpenProperlyAfterwards() {
        try (StoreDirectory store = open(directory)) {
            assertThat(store.isNew()).isFalse();
            assertThat(store.clusterId()).isEqualTo(clusterId);
            for (int server = 0; server < SHAPE.servers(); server++) {
                try (Area area = Area.open(store.areaSettings(server), store.consent())) {
                    assertThat(area.tenures().tenure(server)).isEqualTo(9 + server);
                }
            }
        }
    }

    private static StoreDirectory open(Path directory) {
        return StoreDirectory.open(directory, SHAPE, false, Fixtures.random());
    }

    private static void createAreas(StoreDirectory store) {
        for (int server = 0; server < SHAPE.servers(); server++) {
            try (Area area = Area.create(store.areaSettings(server), Fixtures.random())) {
                area.superblock().startIncarnation();
                area.tenures().set(server, 9 + server);
            }
        }
    }

    private static void refused(ThrowingCallable opening, String... parts) {
        assertThatThrownBy(opening).isInstanceOf(StoreOpenException.class).hasMessageContainingAll(parts);
    }

    @Test
    void shouldNameItsFiles() {
        try (StoreDirectory store = open(directory)) {
            assertThat(store.areaFile(1)).isEqualTo(directory.resolve("area-1.rowan"));
            assertThat(store.areaSettings(1).file()).isEqualTo(store.areaFile(1));
            assertThat(store.configurationDir()).isEqualTo(directory.resolve("configuration"));
            assertThat(store.path()).isEqualTo(directory);
        }
    }

    @Test
    void shouldBeOpenOnceInThisJvmUnderEverySpelling() throws IOException {
        final Path link = parent.resolve("link");
        Files.createSymbolicLink(link, directory);
        try (StoreDirectory held = open(directory)) {
            assertThat(held.isNew()).isFalse();
            refused(() -> open(directory), "open in this JVM already", "another dir=");
            refused(() -> open(parent.resolve("./store/../store/.")), "open in this JVM already", "as " + directory);
            refused(() -> open(link), "open in this JVM already", "as " + directory);
            final Path otherCase = parent.resolve("STORE");
            if (Files.exists(otherCase)) {
                refused(() -> open(otherCase), "open in this JVM already");
            }
        }
        open(link).close();
    }

    @Test
    void shouldBeOpenOnceInThisJvmUnderEveryClassLoader() throws Exception {
        try (StoreDirectory held = open(directory);
                URLClassLoader other = otherClassLoader()) {
            assertThat(held.isNew()).isFalse();
            final Class<?> opener = Class.forName(Opener.class.getName(), true, other);
            assertThat(opener).isNotEqualTo(Opener.class);
            long open = 0;
            for (int i = 0; i < 5; i++) {
                open = i == 1 ? openFiles() : open;
                assertThatThrownBy(() -> {
                            try {
                                opener.getMethod("main", String[].class)
                                        .invoke(null, (Object) new String[] {directory.toString()});
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        })
                        .hasMessageContaining("another class loader");
            }
            assertThat(openFiles()).as("one for all attempts").isEqualTo(open);
            // The failed attempts have not taken the lock from its holder.
            assertThat(openInAnotherProcess()).contains("locked by another process");
        }
        assertThat(openInAnotherProcess()).contains("opened");
    }

    /** Descriptors of this process for lock files; 0 where the system does not list them. */
    private static long openFiles() throws IOException {
        final Path descriptors = Path.of("/proc/self/fd");
        if (!Files.isDirectory(descriptors)) {
            return 0;
        }
        try (Stream<Path> all = Files.list(descriptors)) {
            return all.filter(one -> {
                        try {
                            return Files.readSymbolicLink(one).endsWith(DirectoryLock.FILE_NAME);
                        } catch (IOException e) {
                            return false; // closed meanwhile
                        }
                    })
                    .count();
        }
    }

    private static URLClassLoader otherClassLoader() throws Exception {
        final String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        final List<URL> urls = new ArrayList<>();
        for (String element : path.split(System.getProperty("path.separator"))) {
            urls.add(Path.of(element).toUri().toURL());
        }
        return new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }

    public static final class Opener {
        public static void main(String[] args) {
            try (StoreDirectory store = open(Path.of(args[0]))) {
                System.out.println("opened " + !store.isNew());
            }
        }
    }

    private String openInAnotherProcess() throws Exception {
        final Process child = Fixtures.java(List.of("-Xmx64m"), Opener.class, directory.toString());
        final String output = Fixtures.allOutput(child);
        child.waitFor();
        return output;
    }

    @Test
    void shouldNameTheProcessThatHoldsTheLock() throws Exception {
        final Process child = Fixtures.java(List.of("-Xmx64m"), Holder.class, directory.toString());
        Fixtures.awaitLine(child, "held");
        refused(() -> open(directory), "locked by another process", "process " + child.pid(), "another dir=");
        // A killed holder leaves no lock.
        child.destroyForcibly().waitFor();
    }

    static final class Holder {
        public static void main(String[] args) throws InterruptedException {
            try (StoreDirectory store = open(Path.of(args[0]))) {
                System.out.println(store.isNew() ? "new" : "held");
                Thread.currentThread().join();
            }
        }
    }

    @Test
    void shouldRefuseAnotherShape() {
        refused(() -> openAs(new StoreShape(3, 2, 1 << 20, 16, 64 << 10)), "servers 2", "opened with 3", "another dir");
        refused(() -> openAs(new StoreShape(2, 1, 1 << 20, 16, 64 << 10)), "replicas 2", "opened with 1");
        refused(() -> openAs(new StoreShape(2, 2, 2 << 20, 16, 64 << 10)), "capacity 1048576", "opened with 2097152");
        refused(() -> openAs(new StoreShape(2, 2, 1 << 20, 17, 64 << 10)), "shards 16", "opened with 17");
        refused(() -> openAs(new StoreShape(2, 2, 1 << 20, 16, 128 << 10)), "segment length 65536", "131072");
    }

    private void openAs(StoreShape shape) {
        StoreDirectory.open(directory, shape, false, Fixtures.random());
    }

    @Test
    void shouldRefuseAnUnknownFormatVersion() throws IOException {
        final byte[] manifest = editManifest("format=1", "format=2");
        refused(() -> open(directory), "format version 2", "reads 1", "the version that wrote it");
        restoreManifest(manifest);
    }

    @Test
    void shouldRefuseADamagedManifest() throws IOException {
        final byte[] manifest = editManifest("replicas=2", "replicas=1");
        refused(() -> open(directory), "rowan.manifest", "damaged", "checksum");
        restoreManifest(new byte[0]);
        refused(() -> open(directory), "rowan.manifest", "damaged");
        restoreManifest(new byte[Manifest.MAX_LENGTH + 1]);
        refused(() -> open(directory), "rowan.manifest", "damaged");
        restoreManifest(manifest);
    }

    private byte[] editManifest(String what, String by) throws IOException {
        final Path file = directory.resolve("rowan.manifest");
        final byte[] before = Files.readAllBytes(file);
        final String text = new String(before, StandardCharsets.US_ASCII);
        assertThat(text).contains(what);
        Files.writeString(file, text.replace(what, by));
        return before;
    }

    private void restoreManifest(byte[] bytes) throws IOException {
        Files.write(directory.resolve("rowan.manifest"), bytes);
    }

    @Test
    void shouldRefuseACopiedDirectory() throws IOException {
        assumeTrue(FileIdentity.of(directory) != FileIdentity.UNKNOWN, "needs file identities of the file system");
        final Path copy = parent.resolve("copy");
        Files.createDirectory(copy);
        for (String name : names(directory)) {
            Files.copy(directory.resolve(name), copy.resolve(name));
        }
        refused(() -> open(copy), "is a copy", "accept-copied=true");
        final OpenOverrides consent = new OpenOverrides(false, true);
        try (StoreDirectory store = StoreDirectory.open(copy, SHAPE, consent, Fixtures.random())) {
            for (int server = 0; server < SHAPE.servers(); server++) {
                try (Area area = Area.open(store.areaSettings(server), store.consent())) {
                    area.superblock().startIncarnation();
                }
            }
        }
        // It was accepted once and is a store of its own from now on.
        try (StoreDirectory store = open(copy)) {
            Area.open(store.areaSettings(1), store.consent()).close();
        }
    }

    @Test
    void shouldOpenAMovedDirectory() throws IOException {
        final Path moved = parent.resolve("moved");
        Files.move(directory, moved);
        open(moved).close();
        Files.move(moved, directory);
    }

    /** With more than one replica the other areas may suffice; that is decided by the configuration. */
    @Test
    void shouldRefuseAMissingOrTruncatedAreaOfAStoreWithOneReplica() throws IOException {
        final StoreShape single =
                new StoreShape(SHAPE.servers(), 1, SHAPE.capacity(), SHAPE.shards(), SHAPE.segmentLength());
        final Path alone = parent.resolve("alone");
        try (StoreDirectory store = StoreDirectory.open(alone, single, false, Fixtures.random())) {
            createAreas(store);
            store.markComplete();
        }
        final Path area = alone.resolve("area-1.rowan");
        Files.delete(area);
        refused(
                () -> StoreDirectory.open(alone, single, false, Fixtures.random()),
                "lacks the file area-1.rowan",
                "server 1");
        Files.write(area, new byte[100]);
        refused(
                () -> StoreDirectory.open(alone, single, false, Fixtures.random()),
                "area-1.rowan",
                "has 100 bytes",
                "backup");
    }

    @Test
    void shouldKeepWhatIsSetAside() throws IOException {
        final byte[] bytes = Files.readAllBytes(directory.resolve("area-1.rowan"));
        final Path aside = directory.resolve("area-1.rowan.aside");
        Files.writeString(aside, "older");
        try (StoreDirectory store = open(directory)) {
            assertThat(store.setAside(1)).contains(aside);
            assertThat(store.setAside(1)).isEmpty();
        }
        assertThat(aside).hasBinaryContent(bytes);
        Files.move(aside, directory.resolve("area-1.rowan"));
    }

    @Test
    void shouldLeaveAForeignDirectoryAlone() throws IOException {
        final Path foreign = parent.resolve("foreign");
        Files.createDirectory(foreign);
        Files.writeString(foreign.resolve("thesis.txt"), "years of work");
        refused(() -> open(foreign), "holds no Rowan-KV store", "thesis.txt", "empty or new dir=");
        assertThat(names(foreign)).containsExactly("thesis.txt");
    }

    @Test
    void shouldRefuseAFileInPlaceOfADirectory() throws IOException {
        final Path file = parent.resolve("file");
        Files.writeString(file, "x");
        refused(() -> open(file), "is a file");
        refused(() -> open(file.resolve("below")), "cannot be made");
        assertThat(file).hasContent("x");
    }

    @Test
    void shouldRefuseWhereItMayNotWrite() throws IOException {
        final Path sealed = parent.resolve("sealed");
        Files.createDirectory(sealed);
        assertThat(sealed.toFile().setWritable(false)).isTrue();
        try {
            if (!Files.isWritable(sealed)) {
                refused(() -> open(sealed), "permissions");
                refused(() -> open(sealed.resolve("store")), "cannot be made");
            }
        } finally {
            assertThat(sealed.toFile().setWritable(true)).isTrue();
        }
        // Read-only for all users, the superuser included.
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "needs a file system of the kernel");
        refused(() -> open(Path.of("/proc/rowan-store")), "cannot be made");
    }

    @Test
    void shouldMakeNothingOnAFullDisk() throws IOException {
        final Path target = parent.resolve("huge");
        refused(
                () -> StoreDirectory.open(
                        target, new StoreShape(1, 1, 8L << 40, 16, 4 << 20), false, Fixtures.random()),
                "not enough disk space",
                "capacity=");
        assertThat(names(target)).containsExactly("rowan.lock");
        // The same directory serves a smaller store.
        try (StoreDirectory store = open(target)) {
            assertThat(store.isNew()).isTrue();
        }
    }

    @Test
    void shouldBeginAnUnfinishedCreationAgain() throws IOException {
        final Path unfinished = parent.resolve("unfinished");
        try (StoreDirectory store = open(unfinished)) {
            Area.create(store.areaSettings(0), Fixtures.random()).close();
            Files.write(unfinished.resolve("area-1.rowan.tmp"), new byte[10]);
            Files.createDirectory(store.configurationDir());
            Files.write(store.configurationDir().resolve("x.node"), new byte[10]);
        }
        final StoreShape other = new StoreShape(1, 1, 2 << 20, 8, 64 << 10);
        try (StoreDirectory store = StoreDirectory.open(unfinished, other, false, Fixtures.random())) {
            assertThat(store.isNew()).isTrue();
            assertThat(names(unfinished)).containsExactlyInAnyOrder("rowan.lock", "rowan.manifest", "configuration");
            assertThat(names(store.configurationDir())).isEmpty();
            Area.create(store.areaSettings(0), Fixtures.random()).close();
            store.markComplete();
        }
        try (StoreDirectory store = StoreDirectory.open(unfinished, other, false, Fixtures.random())) {
            assertThat(store.isNew()).isFalse();
        }
    }

    @Test
    void shouldServeAnInterruptedCaller() throws Exception {
        Thread.currentThread().interrupt();
        try (StoreDirectory store = open(directory)) {
            assertThat(Thread.interrupted()).isTrue();
            assertThat(store.isNew()).isFalse();
            // The interrupt has not closed the channel that holds the lock.
            assertThat(openInAnotherProcess()).contains("locked by another process");
        }
    }

    @Test
    void shouldLeaveNoThreadBehind() throws Exception {
        open(directory).close();
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().startsWith("rowan-directory"));
    }

    @Test
    void shouldGiveTheLockBackOnceOnly() throws Exception {
        final StoreDirectory first = open(directory);
        first.close();
        try (StoreDirectory second = open(directory)) {
            first.close();
            assertThat(second.isNew()).isFalse();
            assertThat(openInAnotherProcess()).contains("locked by another process");
        }
    }

    @Test
    void shouldIgnoreWhatACrashLeftOfAManifest() throws IOException {
        final Path begun = parent.resolve("begun");
        Files.createDirectory(begun);
        Files.write(begun.resolve("rowan.manifest.tmp"), new byte[3], StandardOpenOption.CREATE_NEW);
        try (StoreDirectory store = open(begun)) {
            assertThat(store.isNew()).isTrue();
        }
    }

    private static List<String> names(Path directory) throws IOException {
        final List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
            found.forEach(path -> names.add(path.getFileName().toString()));
        }
        return names;
    }
}
