package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.rdma.leased.ModelLeases;
import org.rowankv.rdma.verbs.ModelNetwork;
import org.rowankv.rdma.verbs.ModelVerbs;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.topology.Configuration;

/** Servers whose entries go into leased segments, by the WRITEs of a model device. */
class LeasedClusterTest {
    private static final int CACHE = 1;

    @TempDir
    Path dir;

    private final ModelNetwork network = new ModelNetwork(7);

    private ClusterBed bed(int servers, int replicas, long capacity) {
        return new ClusterBed(dir, servers, replicas, capacity)
                .withFabric(FabricKind.RDMA_LEASED, settings -> ModelLeases.fabric(settings, new ModelVerbs(network)));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] value(int length, int number) {
        final byte[] value = new byte[length];
        Arrays.fill(value, (byte) number);
        return value;
    }

    private static void assertNoErrors(ClusterBed bed) {
        bed.members.forEach(
                member -> assertThat(member.errors.distinct()).as(member.name).isEmpty());
    }

    @Test
    void shouldReplicateAndFindEverythingAgain() {
        try (ClusterBed bed = bed(3, 3, 12 << 20).startAll()) {
            final RowanClient client = bed.client(1);
            for (int i = 0; i < 500; i++) {
                client.put(CACHE, bytes("key" + i), value(i % 100, i));
            }
            client.put(CACHE, bytes("large"), value(50_000, 7)); // in several blocks
            for (int i = 0; i < 500; i += 3) {
                client.remove(CACHE, bytes("key" + i));
            }
            ClusterServersTest.awaitAgreement(bed);
            assertNoErrors(bed);
            bed.stopAll();
            bed.members.forEach(ClusterBed.Member::start);
            bed.awaitServing();
            final RowanClient again = bed.client(2);
            for (int i = 0; i < 500; i++) {
                assertThat(again.get(CACHE, bytes("key" + i))).isEqualTo(i % 3 == 0 ? null : value(i % 100, i));
            }
            assertThat(again.get(CACHE, bytes("large"))).isEqualTo(value(50_000, 7));
            ClusterServersTest.awaitAgreement(bed);
            assertNoErrors(bed);
        }
    }

    /** Segments are leased, filled, digested, cleaned and leased again. */
    @Test
    void shouldUseSegmentsAgain() {
        try (ClusterBed bed = bed(2, 2, 8 << 20).startAll()) {
            final RowanClient client = bed.client(1);
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 100; i++) {
                    client.put(CACHE, bytes("key" + i), value(8_000, round + i));
                }
            }
            for (int i = 0; i < 100; i++) {
                assertThat(client.get(CACHE, bytes("key" + i))).isEqualTo(value(8_000, 19 + i));
            }
            ClusterServersTest.awaitAgreement(bed);
            assertNoErrors(bed);
        }
    }

    /** Servers stop, and start anew, under load: roles move, and each former sender is fenced. */
    @Test
    void shouldLoseNothingWhenServersAreStoppedAndKilled() throws InterruptedException {
        try (ClusterBed bed = bed(3, 2, 12 << 20).startAll()) {
            final ClusterServersTest.Counters counters = new ClusterServersTest.Counters();
            counters.begin(bed, 3);
            for (int round = 0; round < 3; round++) {
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
            final Configuration configuration = bed.configuration();
            assertThat(configuration.term()).isGreaterThan(1);
            ClusterServersTest.awaitAgreement(bed);
        }
    }
}
