package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.rowankv.server.embedded.Stores.bytes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.snapshot.StoreCopy;

/** What a store writes only its owner reads, whatever the umask. */
@Timeout(120)
final class FilePermissionsTest {
    @TempDir
    private Path temporary;

    private Path dir;

    @BeforeEach
    void name() {
        assumeThat(temporary.getFileSystem().supportedFileAttributeViews()).contains("posix");
        dir = temporary.resolve("a/store");
    }

    private static Map<String, String> permissions(Path top) throws IOException {
        final Map<String, String> found = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(top)) {
            for (Path path : paths.toList()) {
                found.put(
                        (Files.isDirectory(path) ? "directory " : "file ") + top.relativize(path),
                        PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
            }
        }
        return found;
    }

    private static void shouldBeForTheOwnerOnly(Path top, int leastFiles) throws IOException {
        final Map<String, String> found = permissions(top);
        assertThat(found).hasSizeGreaterThan(leastFiles);
        found.forEach((path, permissions) ->
                assertThat(permissions).as(path).isEqualTo(path.startsWith("directory") ? "rwx------" : "rw-------"));
    }

    private void fillAndClose() {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.dir = dir;
            with.servers = 2;
            with.replicas = 2;
            with.capacityBytes = 16 << 20;
            with.checkpointIntervalMs = 60_000;
        }))) {
            final RowanClient client = Stores.client(cluster);
            client.put(Stores.cache(client), bytes("key"), bytes("value"));
        }
    }

    @Test
    void shouldMakeFilesAndDirectoriesForTheirOwner() throws IOException {
        fillAndClose();
        shouldBeForTheOwnerOnly(temporary.resolve("a"), 8);
        try (Stream<Path> paths = Files.walk(dir)) {
            assertThat(paths.map(path -> path.getFileName().toString()))
                    .anyMatch(name -> name.contains("area"))
                    .anyMatch(name -> name.contains("lock"))
                    .anyMatch(name -> name.contains("checkpoint"));
        }
    }

    @Test
    void shouldMakeACopyForItsOwner() throws IOException {
        fillAndClose();
        final Path copy = temporary.resolve("copies/copy");
        try (ClosedStore store = ClosedStore.open(dir)) {
            assertThat(StoreCopy.make(store, copy)).isNotNull();
        }
        shouldBeForTheOwnerOnly(temporary.resolve("copies"), 5);
    }

    /** An administrator may have made it for a group. */
    @Test
    void shouldLeaveThePermissionsOfADirectoryThatExists() throws IOException {
        Files.createDirectories(dir);
        Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwxr-x---"));
        fillAndClose();
        assertThat(permissions(dir)).containsEntry("directory ", "rwxr-x---");
        assertThat(permissions(dir).values()).containsOnlyOnce("rwxr-x---").contains("rw-------");
    }
}
