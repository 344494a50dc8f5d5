package org.rowankv.server.membership;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.server.durability.Durability;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

class InitialPlacementTest {
    private static Configuration distribution(int replicas, String... zones) {
        final int servers = zones.length;
        final List<String> names = new ArrayList<>();
        final List<Long> identities = new ArrayList<>();
        for (int server = 0; server < servers; server++) {
            names.add("s" + server);
            identities.add((long) server);
        }
        return InitialPlacement.of(new Members(
                1,
                2,
                new ClusterShape(servers, replicas, 48 * servers, 1 << 20, 16 << 10, Durability.PROCESS),
                names,
                identities,
                List.of(zones)));
    }

    @Test
    void shouldSpreadPrimariesAndReplicasOverDistinctServers() {
        final Configuration configuration = distribution(3, "", "", "", "");
        assertThat(configuration.shardCount()).isEqualTo(192);
        final int[] primaries = new int[4];
        final int[] replicas = new int[4];
        for (ShardAssignment shard : configuration.shards()) {
            final Set<Integer> holders = new HashSet<>(Set.of(shard.primary()));
            for (int backup : shard.backups()) {
                assertThat(holders.add(backup)).isTrue();
            }
            assertThat(holders).hasSize(3);
            primaries[shard.primary()]++;
            holders.forEach(server -> replicas[server]++);
        }
        assertThat(primaries).containsOnly(48);
        assertThat(replicas).containsOnly(144);
    }

    @Test
    void shouldPutReplicasInDistinctZonesWhereThereAreEnough() {
        final String[] zones = {"x", "x", "y", "y", "z", "z"};
        for (int replicas = 2; replicas <= 6; replicas++) {
            for (ShardAssignment shard : distribution(replicas, zones).shards()) {
                final Set<String> used = new HashSet<>(Set.of(zones[shard.primary()]));
                for (int backup : shard.backups()) {
                    used.add(zones[backup]);
                }
                assertThat(shard.replicaCount()).isEqualTo(replicas);
                assertThat(used).hasSize(Math.min(3, replicas));
            }
        }
    }
}
