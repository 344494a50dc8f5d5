package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.rdma.channel.VerbsSettings;
import org.rowankv.rdma.channel.VerbsTransport;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.verbs.ModelNetwork;
import org.rowankv.rdma.verbs.ModelVerbs;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.membership.FabricKind;

/** Servers whose entries are landed by NIC agents, over a model device. */
class LandedClusterTest {
    private static final int CACHE = 1;
    /** Small: frames are cut, and slots run out. */
    private static final VerbsSettings SMALL = new VerbsSettings(8, 512, 256, 1000);

    @TempDir
    Path dir;

    private final ModelNetwork network = new ModelNetwork(11);

    private ClusterBed bed(int servers, int replicas, long capacity) {
        return new ClusterBed(dir, servers, replicas, capacity)
                .withFabric(
                        FabricKind.RDMA_LANDED,
                        settings -> new LandingFabric(
                                settings, new VerbsTransport(new ModelVerbs(network), SMALL, SystemClock.INSTANCE)));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] value(int length, int number) {
        final byte[] value = new byte[length];
        Arrays.fill(value, (byte) number);
        return value;
    }

    @Test
    void shouldReplicateAndFindEverythingAgain() {
        try (ClusterBed bed = bed(3, 3, 12 << 20).startAll()) {
            final RowanClient client = bed.client(1);
            for (int i = 0; i < 300; i++) {
                client.put(CACHE, bytes("key" + i), value(i % 100, i));
            }
            client.put(CACHE, bytes("large"), value(50_000, 7)); // in several blocks
            ClusterServersTest.awaitAgreement(bed);
            bed.stopAll();
            bed.members.forEach(ClusterBed.Member::start);
            bed.awaitServing();
            final RowanClient again = bed.client(2);
            for (int i = 0; i < 300; i++) {
                assertThat(again.get(CACHE, bytes("key" + i))).isEqualTo(value(i % 100, i));
            }
            assertThat(again.get(CACHE, bytes("large"))).isEqualTo(value(50_000, 7));
            ClusterServersTest.awaitAgreement(bed);
        }
    }

    /** Servers stop, and start anew, under load: roles move, and each former sender is fenced. */
    @Test
    void shouldLoseNothingWhenServersAreStoppedAndKilled() throws InterruptedException {
        try (ClusterBed bed = bed(3, 2, 12 << 20).startAll()) {
            final ClusterServersTest.Counters counters = new ClusterServersTest.Counters();
            counters.begin(bed, 3);
            for (int round = 0; round < 2; round++) {
                counters.awaitMore(30);
                if (round == 1) {
                    bed.members.get(round).kill();
                } else {
                    bed.members.get(round).stop();
                }
                bed.members.get(round).start();
                bed.awaitServing();
            }
            counters.awaitMore(30);
            counters.end(bed.client(9));
            assertThat(bed.configuration().term()).isGreaterThan(1);
            ClusterServersTest.awaitAgreement(bed);
        }
    }
}
