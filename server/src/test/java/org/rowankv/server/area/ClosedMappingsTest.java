package org.rowankv.server.area;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.durability.Durability;

/** The blocks of a deleted area's file are freed once a new file needs space. */
final class ClosedMappingsTest {
    private static final Path MAPS = Path.of("/proc/self/maps");

    @TempDir
    private Path dir;

    private static boolean isMapped(Path file) {
        try {
            return Files.readString(MAPS).contains(file.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void openAndClose(Path file) {
        Area.create(
                        new AreaSettings(file, 4 << 20, 64 << 10, 0, 5, 1, Durability.PROCESS),
                        new SplittableRandomSource(1))
                .closeClean();
    }

    @Test
    void shouldUnmapClosedAreasWhenSpaceIsWanted() throws IOException {
        assumeTrue(Files.exists(MAPS), "needs a system that lists mappings");
        final Path file = dir.toRealPath().resolve("area-of-a-closed-store");
        openAndClose(file);
        Files.delete(file);
        assertThat(ClosedMappings.release(() -> !isMapped(file))).isTrue();
    }

    @Test
    void shouldAskForOneCollectionOnly() {
        openAndClose(dir.resolve("area"));
        final int[] looks = {0};
        ClosedMappings.release(() -> true);
        assertThat(ClosedMappings.release(() -> {
                    looks[0]++;
                    return false;
                }))
                .isFalse();
        assertThat(looks[0]).as("nothing was closed since").isOne();
    }
}
