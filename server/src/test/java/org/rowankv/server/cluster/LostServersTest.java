package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.cluster.FailoverBed.CACHE;
import static org.rowankv.server.cluster.FailoverBed.KEYS;
import static org.rowankv.server.cluster.FailoverBed.awaitFullRedundancy;
import static org.rowankv.server.cluster.FailoverBed.awaitSaying;
import static org.rowankv.server.cluster.FailoverBed.bytes;
import static org.rowankv.server.cluster.FailoverBed.write;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.server.membership.LostServers;
import org.rowankv.server.membership.LostServers.LiveServer;
import org.rowankv.server.membership.LostServers.Plan;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardAssignment;
import org.rowankv.topology.ShardMap;

/** Servers with the only complete replicas of some shards never return. */
final class LostServersTest {
    @TempDir
    Path dir;

    /** Keys of lost shards have that value, or none if it is null; all others have the other one. */
    private static void requireValues(ClusterBed bed, Set<Integer> lost, String lostValue, String value) {
        final Configuration present = bed.configuration();
        final KeyHash hash = new KeyHash(present.hashSeed());
        final RowanClient client = bed.client(9);
        for (int i = 0; i < KEYS; i++) {
            final byte[] key = bytes("key" + i);
            final String expected =
                    lost.contains(ShardMap.shardOf(hash.hash(CACHE, key, 0, key.length), present.shardCount()))
                            ? lostValue
                            : value;
            final byte[] found = client.get(CACHE, key);
            if (expected == null) {
                assertThat(found).as("key %d", i).isNull();
            } else {
                assertThat(found).as("key %d", i).isEqualTo(bytes(expected + i));
            }
        }
    }

    private static LostServers lost(ClusterBed bed) {
        return new LostServers(bed.store, "recover", new SplittableRandomSource(3));
    }

    private static List<LiveServer> live(ClusterBed bed) {
        final List<LiveServer> live = new ArrayList<>();
        for (ClusterBed.Member member : bed.members) {
            if (member.server != null) {
                live.add(new LiveServer(member.name, true, member.server.formerReplicas()));
            }
        }
        return live;
    }

    private static Plan recover(ClusterBed bed, String... names) {
        final Plan plan = lost(bed).plan(List.of(names), live(bed));
        assertThat(lost(bed).store(plan)).isTrue();
        return plan;
    }

    /** Of b and c those that have the only complete replicas: one may be excluded before the other is killed. */
    private static String[] needed(ClusterBed bed) {
        final Configuration stored = new ClusterNodes(bed.store, "test", new SplittableRandomSource(5))
                .configuration()
                .configuration();
        final Set<String> needed = new TreeSet<>();
        for (ShardAssignment shard : stored.shards()) {
            if (!shard.isComplete(0)) {
                for (int server = 1; server < 3; server++) {
                    if (shard.isComplete(server)) {
                        needed.add(bed.members.get(server).name);
                    }
                }
            }
        }
        return needed.toArray(new String[0]);
    }

    private static Set<Integer> shards(Plan plan) {
        final Set<Integer> shards = new TreeSet<>();
        plan.losses().forEach(loss -> shards.add(loss.shard()));
        return shards;
    }

    private static void awaitServing(ClusterServer server, long term) {
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            assertThat(server.failure()).isNull();
            assertThat(server.server())
                    .as(server.phase() + " " + server.saying())
                    .isNotNull();
            assertThat(server.inForce().term()).isGreaterThan(term);
        });
    }

    @Test
    void shouldGoOnWithWhatTheOthersHaveAndBeginTheRestEmpty() {
        try (ClusterBed bed = FailoverBed.started(dir, 3, 2)) {
            write(bed.client(1), "first");
            bed.members.get(1).kill();
            bed.members.get(2).kill();
            final ClusterServer left = bed.members.get(0).server;
            awaitSaying(left, "hold the only complete replicas");
            final Plan plan = recover(bed, needed(bed));
            final Set<Integer> lost = shards(plan);
            assertThat(lost).isNotEmpty();
            assertThat(plan.losses())
                    .allMatch(loss -> loss.left() == null && loss.server().equals("a"));
            awaitServing(left, plan.next().term());
            requireValues(bed, lost, null, "first");

            // What the lost ones hold is void.
            bed.members.get(1).start();
            awaitFullRedundancy(bed, 0, 2);
            requireValues(bed, lost, null, "first");
            write(bed.client(2), "second");
            bed.members.get(2).start();
            awaitFullRedundancy(bed, 0, 3);
            bed.awaitServing();
            requireValues(bed, lost, "second", "second");
            ClusterServersTest.awaitAgreement(bed);
        }
    }

    @Test
    void shouldStartWithoutThem() {
        try (ClusterBed bed = FailoverBed.started(dir, 3, 2)) {
            write(bed.client(1), "first");
            bed.stopAll();
            // It registers for a start, and never takes part in it.
            bed.members.get(1).start();
            awaitSaying(bed.members.get(1).server, "waiting for");
            bed.members.get(1).kill();
            final ClusterServer left = bed.members.get(0).start();
            awaitSaying(left, "waiting for");
            final Plan plan = recover(bed, "b", "c");
            awaitServing(left, plan.next().term());
            requireValues(bed, shards(plan), null, "first");
            bed.members.get(0).stop();
            bed.members.get(0).start();
            awaitServing(bed.members.get(0).server, plan.next().term());
            requireValues(bed, shards(plan), null, "first");
        }
    }

    @Test
    void shouldGoOnWithAFormerReplica() {
        try (ClusterBed bed = FailoverBed.started(dir, 2, 2)) {
            final RowanClient client = bed.client(1);
            write(client, "first");
            bed.members.get(0).kill();
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> bed.members.get(1).server.inForce().members().size() == 1);
            write(client, "second");
            bed.members.get(1).kill();
            final ClusterServer left = bed.members.get(0).start();
            awaitSaying(left, "no other has complete replicas");
            assertThat(left.formerReplicas()).hasSize(bed.shape().shards());
            final Plan plan = recover(bed, "b");
            assertThat(plan.losses())
                    .hasSize(bed.shape().shards())
                    .allMatch(loss -> loss.left() != null && loss.left().entries() > 0);
            awaitServing(left, plan.next().term());
            requireValues(bed, shards(plan), "first", "second");
            bed.members.get(1).start();
            awaitFullRedundancy(bed, 0, 2);
            requireValues(bed, shards(plan), "first", "second");
            ClusterServersTest.awaitAgreement(bed);
        }
    }

    @Test
    void shouldRefuseWhatIsNotNeeded() {
        try (ClusterBed bed = FailoverBed.started(dir, 3, 2)) {
            final LostServers lost = lost(bed);
            assertThatThrownBy(() -> lost.plan(List.of("x"), live(bed)))
                    .isInstanceOf(ClusterException.class)
                    .hasMessageContaining("no server 'x'")
                    .hasMessageContaining("a, b, c");
            assertThatThrownBy(() -> lost.plan(List.of("a", "b", "c"), List.of()))
                    .hasMessageContaining("all servers of the cluster");
            assertThatThrownBy(() -> lost.plan(List.of("b", "c"), live(bed))).hasMessageContaining("server 'b' runs");
            bed.members.get(1).kill();
            assertThatThrownBy(() -> lost.plan(List.of("b"), live(bed)))
                    .hasMessageContaining("server 'b' is not needed");
            assertThatThrownBy(() -> lost.plan(List.of("b", "c"), List.of()))
                    .hasMessageContaining("none of the remaining servers runs: start them first");
        }
    }

    @Test
    void shouldChangeNothingWhenTheConfigurationHasChangedMeanwhile() {
        try (ClusterBed bed = new ClusterBed(dir, 2, 1, 8 << 20).startAll()) {
            final LostServers lost = lost(bed);
            final List<LiveServer> one = List.of(new LiveServer("a", true, List.of()));
            final Plan plan = lost.plan(List.of("b"), one);
            bed.members.get(1).kill();
            final ClusterNodes nodes = new ClusterNodes(bed.store, "other", new SplittableRandomSource(4));
            final ClusterNodes.Stored stored = nodes.configuration();
            assertThat(nodes.decide(stored.configuration().superseded(), stored.version()))
                    .isTrue();
            final Configuration before = nodes.configuration().configuration();
            assertThat(lost.store(plan)).isFalse();
            assertThat(nodes.configuration().configuration()).isEqualTo(before);
            assertThatThrownBy(() -> lost.plan(List.of("b"), List.of()))
                    .hasMessageContaining("none of the remaining servers runs");
        }
    }
}
