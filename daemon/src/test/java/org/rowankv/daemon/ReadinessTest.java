package org.rowankv.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/** A server is ready while it serves its shards and costs no shard a replica. */
class ReadinessTest {
    private static final int REPLICAS = 2;

    private static Configuration of(ShardAssignment... shards) {
        return new Configuration(7, 8, 3, List.of(1L, 1L, 1L), List.of(shards));
    }

    private static final Configuration WHOLE =
            of(new ShardAssignment(1, 0, new int[] {1}), new ShardAssignment(1, 1, new int[] {0}));

    private static String lack(Configuration inForce, int server) {
        return Readiness.lack(inForce, server, REPLICAS, false, true, 0);
    }

    @Test
    void shouldBeReadyWithCompleteReplicasOrWithoutAnyThatItWaitsFor() {
        assertThat(lack(WHOLE, 0)).isEmpty();
        assertThat(lack(WHOLE, 1)).isEmpty();
        assertThat(lack(WHOLE, 2)).as("none are missing").isEmpty();
    }

    @Test
    void shouldNotBeReadyWhileItStops() {
        assertThat(Readiness.lack(WHOLE, 0, REPLICAS, true, true, 0)).isEqualTo("stopping");
    }

    @Test
    void shouldNotBeReadyWithoutALease() {
        assertThat(Readiness.lack(WHOLE, 0, REPLICAS, false, false, 0)).isEqualTo("no lease");
    }

    @Test
    void shouldNotBeReadyBeforeItsShardsAreOpen() {
        assertThat(Readiness.lack(WHOLE, 0, REPLICAS, false, true, 1)).isEqualTo("shards to open=1");
    }

    /** Otherwise a supervisor would restart the next one, which may have the only complete replica. */
    @Test
    void shouldNotBeReadyWhileItsReplicasAreCopied() {
        final Configuration joining =
                of(new ShardAssignment(1, 0, new int[] {1}), new ShardAssignment(1, 0, new int[] {1}, Set.of(1)));
        assertThat(lack(joining, 1)).isEqualTo("replicas joining=1");
        assertThat(lack(joining, 0)).as("another's copy").isEmpty();
    }

    @Test
    void shouldNotBeReadyBeforeItGetsReplicasThatShardsLack() {
        final Configuration degraded =
                of(new ShardAssignment(1, 0, new int[0]), new ShardAssignment(1, 0, new int[] {1}));
        assertThat(lack(degraded, 2)).isEqualTo("waits for replicas");
        assertThat(lack(degraded, 0)).as("it has its own").isEmpty();
    }
}
