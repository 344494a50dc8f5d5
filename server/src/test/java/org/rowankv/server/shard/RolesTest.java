package org.rowankv.server.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.Segments;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardAssignment;

final class RolesTest {
    private static final int SERVERS = 3;
    private static final int SHARDS = 7;
    private static final int SEGMENT = 64 << 10;

    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 16 * SEGMENT, SEGMENT, 0, 5, SHARDS, Durability.NONE),
                    new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            12 * SEGMENT);
    private final Configuration first = Configuration.initial(1, 7, SERVERS, 2, SHARDS, List.of(4L, 5L, 6L))
            .coldStart(List.of(7L, 8L, 9L), Set.of(2));
    private final List<Integer> created = new ArrayList<>();

    private ShardPrimary primary(int shard, Configuration configuration) {
        created.add(shard);
        final int epoch = configuration.shard(shard).epoch();
        return new ShardPrimary(
                new ShardReplica(shard, SHARDS, new KeyHash(7), segments, epoch), new VersionCounter(epoch));
    }

    private Roles roles(int server) {
        return new Roles(server, first, shard -> primary(shard, first));
    }

    @Test
    void shouldSayWhatTheConfigurationSays() {
        for (int server = 0; server < SERVERS; server++) {
            final Roles roles = roles(server);
            assertThat(roles.term()).isEqualTo(2);
            assertThat(roles.incarnation(server)).isEqualTo(7 + server);
            final List<Integer> own = new ArrayList<>();
            for (int shard = 0; shard < SHARDS; shard++) {
                final ShardAssignment assignment = first.shard(shard);
                assertThat(roles.epoch(shard)).isEqualTo(assignment.epoch());
                assertThat(roles.backups(shard)).containsExactly(assignment.backups());
                assertThat(roles.joining(shard))
                        .containsExactlyInAnyOrder(assignment.joining().stream()
                                .mapToInt(Integer::intValue)
                                .toArray());
                for (int other = 0; other < SERVERS; other++) {
                    assertThat(roles.isJoining(shard, other)).isEqualTo(assignment.isJoining(other));
                    assertThat(roles.isBackup(shard, other))
                            .isEqualTo(assignment.isReplica(other) && other != assignment.primary());
                }
                assertThat(roles.find(shard) != null).isEqualTo(assignment.primary() == server);
                if (assignment.primary() == server) {
                    own.add(shard);
                }
            }
            assertThat(roles.primaries())
                    .extracting(each -> each.replica().shardId())
                    .containsExactlyElementsOf(own);
        }
        assertThat(first.isJoining(2)).as("something is joining").isTrue();
    }

    /** R22: a version that an older counter assigns late would lie below the CommitVer that the newer one allows. */
    @Test
    void shouldKeepThePrimaryOfAShardThatStaysAndCreateOnlyThoseThatCome() {
        final Roles roles = roles(0);
        final int stays = roles.primaries().get(0).replica().shardId();
        final int goes = roles.primaries().get(1).replica().shardId();
        Configuration next = first.restarted(first.incarnations(), Set.of(), 0);
        int comes = 0;
        while (next.shard(comes).primary() == 0 || !next.shard(comes).isComplete(0)) {
            comes++;
        }
        next = next.handedOver(Map.of(comes, 0));
        next = new Configuration(1, 7, next.term(), next.incarnations(), without(next.shards(), goes));
        created.clear();
        final Configuration last = next;
        final Roles later = roles.next(last, shard -> primary(shard, last));
        assertThat(created).containsExactly(comes);
        assertThat(later.find(stays)).isSameAs(roles.find(stays));
        assertThat(later.isLeaving(stays)).isFalse();
        assertThat(later.isLeaving(goes)).isTrue();
        assertThat(later.find(goes)).isSameAs(roles.find(goes));
        assertThat(later.backups(goes)).containsExactly(last.shard(goes).others(0));
        final Roles left = later.left(goes);
        assertThat(left.find(goes)).isNull();
        assertThat(left.isLeaving(goes)).isFalse();
        assertThat(left.backups(goes)).containsExactly(last.shard(goes).backups());
        assertThat(later.has(roles.primaries().get(0))).isTrue();
        assertThat(left.has(roles.primaries().get(1))).isFalse();
        assertThat(later.counts()).hasSameSizeAs(later.primaries());
    }

    private static List<ShardAssignment> without(List<ShardAssignment> shards, int shard) {
        final List<ShardAssignment> next = new ArrayList<>(shards);
        next.set(shard, new ShardAssignment(shards.get(shard).epoch() + 1, 1, new int[] {2}));
        return next;
    }

    @Test
    void shouldTellSinceWhichEpochEachServerIsAReplica() {
        final Configuration one = RolesOfOne.configuration(1, 1, 2);
        final Configuration joined = RolesOfOne.changed(one, Set.of(3), 1, 3);
        final Configuration complete = RolesOfOne.changed(joined, Set.of(), 1, 3);
        Roles roles = new Roles(0, one, shard -> primary(shard, one));
        assertThat(tenures(roles)).containsExactly(1, 1, 1, 0);
        roles = roles.next(joined, shard -> null);
        assertThat(tenures(roles)).containsExactly(1, 1, 0, 2);
        roles = roles.next(complete, shard -> null);
        assertThat(tenures(roles)).containsExactly(1, 1, 0, 2);
        roles = roles.next(RolesOfOne.changed(RolesOfOne.returned(complete, 3), Set.of(3), 3), shard -> null);
        assertThat(tenures(roles)).as("one has left, another has come back").containsExactly(1, 0, 0, 4);
    }

    private static List<Integer> tenures(Roles roles) {
        return IntStream.range(0, roles.serverCount())
                .mapToObj(server -> roles.tenure(0, server))
                .toList();
    }

    @Test
    void shouldNeverGoBackToAnOlderTerm() {
        final Roles roles = roles(1);
        final CurrentRoles current = new CurrentRoles(roles);
        final Configuration second = first.restarted(List.of(10L, 11L, 12L), Set.of(), 0);
        final Roles later = roles.next(second, shard -> primary(shard, second));
        current.replace(later);
        assertThat(current.get()).isSameAs(later);
        assertThatThrownBy(() -> current.replace(roles)).hasMessageContaining("term 2 after term 3");
        assertThat(current.get()).isSameAs(later);
    }

    /** R34: between the commit of its configuration and its opening a shard has no primary. */
    @Test
    void shouldHaveNoPrimaryOfAShardThatComesBeforeItIsOpen() {
        final CurrentRoles current = new CurrentRoles(roles(1));
        int comes = 0;
        while (first.shard(comes).primary() == 1 || !first.shard(comes).isComplete(1)) {
            comes++;
        }
        final Configuration next = first.handedOver(Map.of(comes, 1));
        final List<ShardPrimary> before = current.get().primaries();
        final Roles followed = current.follow(next);
        assertThat(current.get()).isSameAs(followed);
        assertThat(followed.find(comes)).isNull();
        assertThat(followed.isUnopened(comes)).isTrue();
        assertThat(followed.primaries()).isEqualTo(before);

        final ShardPrimary primary = primary(comes, next);
        assertThat(current.open(next.shard(comes).epoch() - 1, primary)).isFalse();
        assertThat(current.open(next.shard(comes).epoch(), primary)).isTrue();
        assertThat(current.open(next.shard(comes).epoch(), primary)).isFalse();
        final Roles opened = current.get();
        assertThat(opened.find(comes)).isSameAs(primary);
        assertThat(opened.term()).isEqualTo(next.term());
        assertThat(opened.isUnopened(comes)).isFalse();
        assertThat(opened.primaries()).containsAll(before).contains(primary).hasSize(before.size() + 1);
        assertThat(opened.counts()).hasSize(before.size() + 1);
        assertThat(opened.backups(comes)).containsExactly(next.shard(comes).backups());
        assertThat(opened.primaries())
                .extracting(each -> each.replica().shardId())
                .isSorted();

        final Roles last =
                current.follow(next.handedOver(Map.of(comes, next.shard(comes).backups()[0])));
        assertThat(last.isLeaving(comes)).isTrue();
        assertThat(current.mayBegin(primary)).isTrue();
        final long term = current.close(comes);
        assertThat(term).isEqualTo(last.term());
        assertThat(current.close(comes)).isEqualTo(term);
        assertThat(current.get().isLeaving(comes)).isTrue();
        assertThat(current.has(primary)).isTrue();
        assertThat(current.mayBegin(primary)).isFalse();
        assertThat(current.mayBegin(before.get(0))).isTrue();
        final Configuration later = last.configuration();
        final Roles other = current.follow(new Configuration(
                1,
                7,
                later.term() + 1,
                later.incarnations(),
                later.shards(),
                later.startTerm(),
                later.manager(),
                Set.of()));
        assertThat(other.isLeaving(comes)).isTrue();
        assertThat(current.mayBegin(primary)).isTrue();
        assertThat(current.left(comes, term))
                .as("a version may have been taken since")
                .isFalse();
        final long again = current.close(comes);
        assertThat(current.left(comes, term)).isFalse();
        assertThat(current.left(comes, again)).isTrue();
        assertThat(current.left(comes, again)).isFalse();
        assertThat(current.get().find(comes)).isNull();
        assertThat(last.isUnopened(comes)).isFalse();
        assertThat(current.open(next.shard(comes).epoch(), primary)).isFalse();
    }

    /** Agents hold arrays by server and by shard. */
    @Test
    void shouldRefuseOtherNumbersOfServersOrShards() {
        final CurrentRoles current = new CurrentRoles(roles(0));
        final Configuration fewer =
                new Configuration(1, 7, 9, first.incarnations(), first.shards().subList(0, SHARDS - 1));
        assertThatThrownBy(() -> current.replace(new Roles(0, fewer, shard -> primary(shard, fewer))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("6 shards");
        final Configuration more = new Configuration(1, 7, 9, List.of(1L, 1L, 1L, 1L), first.shards());
        assertThatThrownBy(() -> current.replace(new Roles(0, more, shard -> primary(shard, more))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("4 servers");
    }
}
