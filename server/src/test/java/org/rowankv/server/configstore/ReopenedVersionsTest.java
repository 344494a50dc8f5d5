package org.rowankv.server.configstore;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Versions of nodes continue after the highest in the directory, whichever of its files is read first. */
final class ReopenedVersionsTest {
    private static final int NODES = 6;

    @TempDir
    Path directory;

    private static long versionOf(ConfigurationStore store, String path) {
        final VersionedNode node = store.read(path);
        return node == null ? ConfigurationStore.ABSENT : node.version();
    }

    private static void write(ConfigurationStore store, String path) {
        assertThat(store.compareAndSet(path, versionOf(store, path), new byte[] {1}, new Stamp("writer", 1)))
                .isTrue();
    }

    private static long highest(ConfigurationStore store) {
        return store.list("/").stream()
                .mapToLong(path -> versionOf(store, path))
                .max()
                .orElseThrow();
    }

    @Test
    void shouldGiveNoVersionThatANodeHasAlready() {
        try (FileConfigurationStore store = new FileConfigurationStore(directory)) {
            for (int i = 0; i < NODES; i++) {
                write(store, "/n" + i);
            }
        }
        for (int newest = 0; newest < NODES; newest++) {
            try (FileConfigurationStore store = new FileConfigurationStore(directory)) {
                write(store, "/n" + newest);
            }
            try (FileConfigurationStore store = new FileConfigurationStore(directory)) {
                final long highest = highest(store);
                assertThat(versionOf(store, "/n" + newest)).isEqualTo(highest);
                write(store, "/n" + (newest + 1) % NODES);
                assertThat(versionOf(store, "/n" + (newest + 1) % NODES)).isGreaterThan(highest);
            }
        }
    }
}
