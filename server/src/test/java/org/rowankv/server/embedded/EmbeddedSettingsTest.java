package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** Invalid shapes are refused before anything is created. */
final class EmbeddedSettingsTest {
    private static EmbeddedSettings of(int servers, int shards) {
        return EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = 1;
            with.shards = shards;
            with.capacityBytes = 64L << 20;
        });
    }

    @Test
    void shouldRefuseMoreServersAndShardsThanThereAreNumbersFor() {
        assertThat(of(64, 4096).shape().servers()).isEqualTo(64);
        assertThatThrownBy(() -> of(65, 4096)).hasMessageContaining("servers must be 1..64, not 65");
        assertThatThrownBy(() -> of(64, 4097)).hasMessageContaining("4096, not 4097");
    }
}
