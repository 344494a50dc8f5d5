package org.rowankv.server.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.server.cluster.ClusterBed;
import org.rowankv.server.durability.Durability;

/** A registration is accepted if it is signed with the cluster's secret. */
class RegistrationsTest {
    private static final String PATH = "/servers/a";
    private static final ClusterSecret OTHER = ClusterSecret.of("the test", "another secret, as long as one");

    private final Registrations registrations = new Registrations("shop", ClusterBed.SECRET);
    private final ServerRegistration announcement = new ServerRegistration(
            "a",
            7,
            new HostAndPort("host", 7),
            "host:6",
            "",
            "",
            new ClusterShape(3, 2, 9, 1 << 20, 16 << 10, Durability.POWER, FabricKind.RDMA_LANDED),
            4,
            5);

    @Test
    void shouldBelieveWhatItSignedAndReadTheSame() {
        final byte[] stored = registrations.signed(PATH, announcement.encode());
        assertThat(registrations.isGenuine(PATH, stored, 1)).isTrue();
        assertThat(ServerRegistration.decode(PATH, stored)).isEqualTo(announcement);
    }

    /** Clusters made before there was a choice say nothing of it. */
    @Test
    void shouldReadARecordWithoutAFabricAsOneOfTcp() {
        final String text = new String(announcement.encode(), StandardCharsets.UTF_8);
        final byte[] older = text.replace("fabric=rdma-landed\n", "").getBytes(StandardCharsets.UTF_8);
        assertThat(older).hasSizeLessThan(text.length());
        assertThat(ServerRegistration.decode(PATH, older).shape().fabric()).isEqualTo(FabricKind.TCP);
        final byte[] newer = text.replace("rdma-landed", "carrier-pigeon").getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> ServerRegistration.decode(PATH, newer))
                .isInstanceOf(ClusterException.class)
                .hasMessageContainingAll("the fabric 'carrier-pigeon'", "this version", "does not have");
    }

    @Test
    void shouldBelieveNoByteThatWasChanged() {
        final byte[] stored = registrations.signed(PATH, announcement.encode());
        for (int at = 0; at < stored.length; at++) {
            final byte[] changed = stored.clone();
            changed[at] ^= 1;
            assertThat(registrations.isGenuine(PATH, changed, at))
                    .as("byte %d", at)
                    .isFalse();
        }
        for (int length = 0; length < stored.length; length++) {
            assertThat(registrations.isGenuine(PATH, Arrays.copyOf(stored, length), length))
                    .as("%d bytes", length)
                    .isFalse();
        }
    }

    @Test
    void shouldBelieveNoOtherNodeClusterOrSecret() {
        final byte[] stored = registrations.signed(PATH, announcement.encode());
        assertThat(registrations.isGenuine("/servers/b", stored, 1)).isFalse();
        assertThat(new Registrations("other", ClusterBed.SECRET).isGenuine(PATH, stored, 1))
                .isFalse();
        assertThat(new Registrations("shop", OTHER).isGenuine(PATH, stored, 1)).isFalse();
        assertThat(registrations.isGenuine(PATH, announcement.encode(), 1)).isFalse();
        assertThat(new Registrations("shop", null).isGenuine(PATH, announcement.encode(), 1))
                .isTrue();
    }

    @Test
    void shouldNotReadAnotherMacBehindTheFirst() {
        final byte[] stored = registrations.signed(PATH, announcement.encode());
        final String twice = new String(stored, StandardCharsets.UTF_8) + "incarnation=9\n";
        assertThat(registrations.isGenuine(PATH, twice.getBytes(StandardCharsets.UTF_8), 1))
                .isFalse();
    }
}
