package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.directory.StoreDirectory;
import org.rowankv.server.directory.StoreShape;

/**
 * A start that creates an area again, interrupted before the configuration is stored: the old file is kept and usable.
 */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class UnfinishedStartTest {
    private static final int KEYS = 30;

    @TempDir
    private Path dir;

    private Consumer<EmbeddedSettings.Builder> settings() {
        return with -> {
            with.servers = 3;
            with.replicas = 2;
            with.dir = dir;
            with.shards = 6;
            with.workers = 1;
            with.capacityBytes = 4 << 20;
            with.segmentBytes = 64 << 10;
            with.maxMessage = 1024;
        };
    }

    @AfterEach
    void leave() {
        Chaos.reset();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldKeepTheFileThatItSetAside(int brokenOff) throws IOException {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(settings()));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int i = 0; i < KEYS; i++) {
                client.put(cache, bytes("key" + i), value("key" + i, 2, 300));
            }
        }
        try (StoreDirectory directory = StoreDirectory.open(
                        dir, new StoreShape(3, 2, 4 << 20, 6, 64 << 10), false, SecureSeed.source());
                Area area = Area.open(directory.areaSettings(1), OpenOverrides.NONE)) {
            area.superblock().markIncomplete();
        }
        for (int start = 0; start < brokenOff; start++) {
            Chaos.install(name -> {
                if (name.equals("start.incarnation")) {
                    throw new IllegalStateException("planted");
                }
            });
            assertThatThrownBy(() -> EmbeddedCluster.open(EmbeddedSettings.of(settings())))
                    .hasMessage("planted");
            Chaos.reset();
            assertThat(dir.resolve("area-1.rowan.aside")).exists();
        }
        // What the incomplete area shares with this one is nowhere else any more.
        Files.delete(dir.resolve("area-0.rowan"));
        try (EmbeddedCluster again =
                EmbeddedCluster.open(EmbeddedSettings.of(settings().andThen(with -> with.acceptUnclean = true)))) {
            final RowanClient reader = Stores.client(again, 8);
            final int cache = Stores.cache(reader);
            for (int i = 0; i < KEYS; i++) {
                assertThat(numberOf("key" + i, reader.get(cache, bytes("key" + i))))
                        .isEqualTo(2);
            }
        }
    }
}
