package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.HostAndPort;

class ClusterSettingsTest {
    private static final ClusterShape SHAPE = new ClusterShape(1, 1, 4, 64 << 10, 16 << 10, Durability.PROCESS);

    @Test
    void shouldTakeDefaultsForWhatIsNotSet() {
        final ClusterSettings settings = ClusterSettings.of(with -> {
            with.cluster = "shop";
            with.name = "till";
            with.dir = Path.of("till");
            with.advertised = new HostAndPort("127.0.0.1", 1);
            with.shape = SHAPE;
            with.capacityBytes = 4 << 20;
            with.workers = 2;
        });

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
                        ClusterSettings.DEFAULT_LEASE_MS,
                        ClusterSettings.DEFAULT_START_WAIT_MS,
                        1,
                        ClusterSettings.DEFAULT_CHECKPOINT_INTERVAL_MS,
                        ThreadingMode.SHARED,
                        null));
    }

    @Test
    void shouldSayWhatIsMissing() {
        Consumer<ClusterSettings.Builder> given = usual -> {};
        requireMissing(given, "the cluster's name");
        given = given.andThen(with -> with.cluster = "shop");
        requireMissing(given, "the server's name");
        given = given.andThen(with -> with.name = "till");
        requireMissing(given, "the directory");
        given = given.andThen(with -> with.dir = Path.of("till"));
        requireMissing(given, "the address for other servers");
        given = given.andThen(with -> with.advertised = new HostAndPort("127.0.0.1", 1));
        requireMissing(given, "the cluster's shape");
    }

    private static void requireMissing(Consumer<ClusterSettings.Builder> given, String what) {
        assertThatThrownBy(() -> ClusterSettings.of(given))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(what + " is missing");
    }
}
