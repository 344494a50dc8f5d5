package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.HostAndPort;

class ClusterSettingsTest {
    private static final ClusterShape SHAPE = new ClusterShape(1, 1, 4, 64 << 10, 16 << 10, Durability.PROCESS);

    @Test
    void shouldTakeDefaultsForWhatIsNotSet() {
        final ClusterSettings settings = ClusterSettings.builder()
                .cluster("shop")
                .name("till")
                .dir(Path.of("till"))
                .advertised(new HostAndPort("127.0.0.1", 1))
                .shape(SHAPE)
                .capacityBytes(4 << 20)
                .workers(2)
                .build();

        assertThat(settings)
                .isEqualTo(new ClusterSettings(
                        "shop",
                        "till",
                        Path.of("till"),
                        new HostAndPort("127.0.0.1", 1),
                        "",
                        "",
                        "",
                        SHAPE,
                        4 << 20,
                        2,
                        ClusterSettings.DEFAULT_MUTATIONS_PER_WORKER,
                        false,
                        0,
                        ClusterSettings.DEFAULT_DRAIN_MS,
                        false,
                        false,
                        ClusterSettings.DEFAULT_SESSION_LEASE_MS,
                        ThreadingMode.SHARED,
                        null));
    }

    @Test
    void shouldSayWhatIsMissing() {
        final ClusterSettings.Builder builder = ClusterSettings.builder();
        requireMissing(builder, "the cluster's name");
        requireMissing(builder.cluster("shop"), "the server's name");
        requireMissing(builder.name("till"), "the directory");
        requireMissing(builder.dir(Path.of("till")), "the address for other servers");
        requireMissing(builder.advertised(new HostAndPort("127.0.0.1", 1)), "the cluster's shape");
    }

    private static void requireMissing(ClusterSettings.Builder builder, String what) {
        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(what + " is missing");
    }
}
