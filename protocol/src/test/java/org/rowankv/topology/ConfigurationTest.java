package org.rowankv.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;

class ConfigurationTest {
    @Test
    void shouldSpreadPrimariesAndBackups() {
        final Configuration configuration = Configuration.initial(1, 2, 4, 3, 64, List.of(1L, 1L, 1L, 1L));
        final int[] primaries = new int[4];
        final int[] firstBackups = new int[4];
        for (int shard = 0; shard < 64; shard++) {
            final ShardAssignment assignment = configuration.shard(shard);
            final Set<Integer> replicas = new HashSet<>();
            replicas.add(assignment.primary());
            for (int backup : assignment.backups()) {
                replicas.add(backup);
            }
            assertThat(replicas).hasSize(3).allMatch(server -> server >= 0 && server < 4);
            primaries[assignment.primary()]++;
            firstBackups[assignment.backups()[0]]++;
        }
        assertThat(primaries).containsOnly(16);
        assertThat(firstBackups).doesNotContain(0);
    }

    @Test
    void shouldHaveNoBackupsWithOneReplica() {
        final Configuration configuration = Configuration.initial(1, 2, 1, 1, 8, List.of(1L));
        assertThat(configuration.shard(7).backups()).isEmpty();
        assertThat(configuration.shard(7).replicaCount()).isEqualTo(1);
    }

    @Test
    void shouldRaiseTermAndEveryEpochAtAColdStart() {
        final Configuration first = Configuration.initial(1, 2, 2, 2, 8, List.of(1L, 1L));
        final Configuration next = first.coldStart(List.of(2L, 3L));
        assertThat(next.term()).isEqualTo(first.term() + 1);
        assertThat(next.incarnations()).containsExactly(2L, 3L);
        assertThat(next.clusterId()).isEqualTo(first.clusterId());
        assertThat(next.hashSeed()).isEqualTo(first.hashSeed());
        for (int shard = 0; shard < 8; shard++) {
            assertThat(next.shard(shard).epoch()).isEqualTo(first.shard(shard).epoch() + 1);
            assertThat(next.shard(shard).primary()).isEqualTo(first.shard(shard).primary());
        }
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        assertThatThrownBy(() -> Configuration.initial(1, 2, 2, 3, 8, List.of(1L, 1L)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("replicas");
        assertThatThrownBy(() -> Configuration.initial(1, 2, 1, 1, 5_000, List.of(1L)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ShardAssignment(1, 2, new int[] {1, 2}))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** An attempt takes a while, and in a chain of changes several terms pass meanwhile. */
    @Test
    void shouldAdmitConnectionsOpenedInAFormerTermOfTheSameStart() {
        final Configuration started = Configuration.initial(1, 2, 3, 3, 6, List.of(1L, 1L, 1L))
                .coldStart(List.of(2L, 2L, 2L))
                .managedBy(0);
        final Configuration later = started.succeeded(1).succeeded(2);
        for (long openedIn = started.term(); openedIn <= later.term(); openedIn++) {
            assertThat(later.admits(1, 2, openedIn)).isTrue();
            assertThat(later.admits(1, 1, openedIn)).isFalse();
            assertThat(later.admits(3, 2, openedIn)).isFalse();
        }
        assertThat(later.admits(1, 2, started.term() - 1)).isFalse();
        assertThat(later.admits(1, 2, later.term() + 1)).isFalse();
    }

    @Test
    void shouldAdmitNoExcludedProcessInAnyTerm() {
        final Configuration started =
                Configuration.initial(1, 2, 3, 3, 6, List.of(2L, 2L, 2L)).managedBy(0);
        final Configuration excluding = Objects.requireNonNull(started.excluding(Set.of(1), 0));
        final Configuration returned = excluding.adding(1, 3).succeeded(0);
        for (long openedIn = started.term(); openedIn <= returned.term(); openedIn++) {
            assertThat(excluding.admits(1, 2, openedIn)).isFalse();
            assertThat(returned.admits(1, 2, openedIn)).isFalse();
            assertThat(returned.admits(1, 3, openedIn)).isTrue();
        }
    }

    @Test
    void shouldNotLetItsArraysBeChanged() {
        final int[] backups = {1, 2};
        final ShardAssignment assignment = new ShardAssignment(1, 0, backups);
        backups[0] = 9;
        assignment.backups()[1] = 9;
        assertThat(assignment.backups()).containsExactly(1, 2);
        assertThat(assignment).isEqualTo(new ShardAssignment(1, 0, new int[] {1, 2}));
        assertThat(assignment.isReplica(2)).isTrue();
        assertThat(assignment.isReplica(9)).isFalse();
    }

    /** Server 0 has received all its copies. */
    private static Configuration joined(Configuration joining) {
        return joining.completed(Map.of(
                0, Set.copyOf(IntStream.range(0, joining.shardCount()).boxed().toList())));
    }

    @Test
    void shouldGiveThePrimaryOfALostServerToACompleteReplica() {
        final Configuration first = Configuration.initial(1, 2, 3, 3, 6, List.of(1L, 1L, 1L));
        final Configuration without = first.coldStart(List.of(2L, 2L, 2L), Set.of(0));
        for (int shard = 0; shard < 6; shard++) {
            final ShardAssignment assignment = without.shard(shard);
            assertThat(assignment.primary()).isNotZero();
            assertThat(assignment.isReplica(0)).isTrue();
            assertThat(assignment.isJoining(0)).isTrue();
            assertThat(assignment.isComplete(0)).isFalse();
            assertThat(assignment.epoch()).isEqualTo(2);
        }
        final Configuration joined = joined(without);
        assertThat(joined.isJoining(0)).isFalse();
        assertThat(joined.term()).isEqualTo(3);
        assertThat(joined.shard(0).epoch()).isEqualTo(2);
        // A complete one gets its shards back with the next cold start.
        assertThat(joined.coldStart(List.of(3L, 3L, 3L)).shard(0).primary()).isZero();
    }

    @Test
    void shouldCountAnIncompleteReplicaOnlyWhereThereIsNoOther() {
        // Shards 0 and 4 are on 0 and 1, 1 and 5 on 1 and 2, 2 and 3 on 0 and 2.
        final Configuration first = Configuration.initial(1, 2, 3, 2, 6, List.of(1L, 1L, 1L));
        final Configuration next = first.coldStart(List.of(2L, 2L, 2L), Set.of(2), Set.of(1));
        for (int shard : List.of(0, 4)) {
            assertThat(next.shard(shard).primary()).isZero();
            assertThat(next.shard(shard).isJoining(1)).isTrue();
        }
        for (int shard : List.of(1, 5)) {
            assertThat(next.shard(shard).primary()).isEqualTo(1);
            assertThat(next.shard(shard).isJoining(2)).isTrue();
        }
        for (int shard : List.of(2, 3)) {
            assertThat(next.shard(shard).primary()).isZero();
        }
    }

    @Test
    void shouldNeverCountAJoiningReplicaAsComplete() {
        final Configuration first = Configuration.initial(1, 2, 2, 2, 4, List.of(1L, 1L));
        final Configuration without = first.coldStart(List.of(2L, 2L), Set.of(0));
        assertThat(first.shardsLostWithout(Set.of(0))).isEmpty();
        assertThat(without.shardsLostWithout(Set.of(1))).containsExactly(0, 1, 2, 3);
        assertThatThrownBy(() -> without.coldStart(List.of(3L, 3L), Set.of(1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(without.coldStart(List.of(3L, 3L)).shard(0).isJoining(0)).isTrue();
        assertThat(joined(without).shardsLostWithout(Set.of(1))).isEmpty();
        assertThatThrownBy(() -> new ShardAssignment(1, 0, new int[] {1}, Set.of(0)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldGiveClientsNoAddressOfAServerWithoutRoles() {
        final Configuration all = Configuration.initial(1, 2, 3, 2, 8, List.of(1L, 1L, 1L));
        final Configuration left = all.excluding(Set.of(1), 0);
        final List<String> addresses = List.of("a:1", "b:1", "c:1");
        assertThat(new Routing(all, addresses).addresses()).isEqualTo(addresses);
        final Routing received = RoutingDescriptor.decode(RoutingDescriptor.encode(new Routing(left, addresses)));
        assertThat(received.addresses()).containsExactly("a:1", "", "c:1");
    }

    @Test
    void shouldEndEpochsWithAnExplanationAndNoRoutingBehindThem() {
        final ShardAssignment last = new ShardAssignment(Version.MAX_EPOCH, 0, new int[] {1});
        assertThatThrownBy(() -> last.withEpoch(Version.MAX_EPOCH + 1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("copy the objects to a new store");
        assertThatThrownBy(() -> last.swapped(1)).isInstanceOf(IllegalStateException.class);
        final byte[] routing = RoutingDescriptor.encode(
                new Routing(Configuration.initial(1, 2, 2, 2, 8, List.of(1L, 1L)), List.of("a:1", "b:1")));
        final ByteBuffer shards = ByteBuffer.wrap(routing).order(ByteOrder.LITTLE_ENDIAN);
        shards.putInt(RoutingDescriptor.HEADER_LENGTH, Version.MAX_EPOCH);
        assertThat(RoutingDescriptor.whyInvalid(routing)).isNull();
        shards.putInt(RoutingDescriptor.HEADER_LENGTH, Version.MAX_EPOCH + 1);
        assertThat(RoutingDescriptor.whyInvalid(routing)).contains("shard 0 has epoch");
    }
}
