package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.Segments;
import org.rowankv.server.log.Space;
import org.rowankv.server.shard.ShardReplica;

/** The replicas of a running server, which it begins, completes, gives up and begins again. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class TenureChangesTest {
    private static final int JOINER = 2;
    private static final int OBJECTS = 100;
    private static final long FAST = 1L << 30;

    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private final OneThread agents = new OneThread(clock, 1);
    private final RunningServers servers = new RunningServers(agents, clock, FAST);

    @AfterEach
    void close() {
        servers.close();
    }

    private void write(String prefix) {
        for (int i = 0; i < OBJECTS; i++) {
            final String key = prefix + i;
            servers.requireOk(
                    RunningServers.put(new Request(), key, Stores.value(key, 1, i % 10 == 0 ? 3000 : 200 + i)));
        }
    }

    private List<ShardReplica> held() {
        return new ArrayList<>(servers.server(JOINER).replicas().all());
    }

    private Space space() {
        return servers.server(JOINER).segments().space();
    }

    private int epoch(int shard) {
        return servers.configuration().shard(shard).epoch();
    }

    private void requireAllThere() {
        servers.awaitReported(JOINER);
        servers.requireAgreement();
        servers.requireExactSpace();
        servers.requireNoErrors();
    }

    @Test
    void shouldBeginWithItsTenureAndPostNothingYoungerThanTheCopy() {
        write("a");
        final Segments segments = servers.server(JOINER).segments();
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        assertThat(held()).hasSize(RunningServers.SHARDS).allMatch(replica -> replica.tenure() == 2);
        for (int shard = 0; shard < RunningServers.SHARDS; shard++) {
            assertThat(segments.area().tenures().tenure(shard)).isEqualTo(2);
        }
        int posted = 0;
        for (int segment = 0; segment < segments.count(); segment++) {
            if (segments.state(segment) == SegmentState.USING && segments.owner(segment) == SegmentOwner.BACKUP) {
                assertThat(segments.horizon(segment)).isEqualTo(1);
                posted++;
            }
        }
        assertThat(posted).isPositive();
        requireAllThere();
    }

    /** What destroyed a cache is not copied, since it ends nothing there: the announcement has its id. */
    @Test
    void shouldRefuseCachesThatWereDestroyedBefore() {
        final int destroyed = RunningServers.CACHE + 100;
        write("a");
        for (int shard = 0; shard < RunningServers.SHARDS; shard++) {
            servers.requireOk(new Request().destroy(destroyed, shard));
        }
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        requireAllThere();
        assertThat(held())
                .hasSize(RunningServers.SHARDS)
                .allMatch(replica -> replica.clears().isDestroyed(destroyed));
        assertThat(held()).noneMatch(replica -> replica.clears().isDestroyed(RunningServers.CACHE));
        // As a primary it announces them in turn.
        assertThat(held())
                .allSatisfy(replica -> assertThat(replica.clears().destroyedIds())
                        .isEqualTo(BitSet.valueOf(new long[] {0, 1L << destroyed})));
    }

    /** The configuration says later that they are complete. */
    @Test
    void shouldGoOnWhileItsReportsAreNotStored() {
        write("a");
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        final List<ShardReplica> begun = held();
        servers.awaitReported(JOINER);
        assertThat(begun).noneMatch(ShardReplica::isJoining);
        assertThat(servers.adopt(servers.same())).isTrue();
        assertThat(held()).containsExactlyElementsOf(begun);
        write("b");
        requireAllThere();
        assertThat(servers.adopt(servers.joined(JOINER))).isTrue();
        assertThat(held()).containsExactlyElementsOf(begun);
        assertThat(servers.configuration().isJoining(JOINER)).isFalse();
    }

    @Test
    void shouldGiveUpWhatTheRolesTakeFromItAndBeginAnew() {
        write("a");
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        servers.awaitReported(JOINER);
        assertThat(servers.adopt(servers.joined(JOINER))).isTrue();
        final List<ShardReplica> first = held();

        assertThat(servers.adopt(servers.excluding(JOINER, 0))).isTrue();
        while (!held().isEmpty()) {
            servers.pause();
        }
        servers.living().forEach(server -> {
            while (!server.spaceRequests().releaseGrants()) {
                servers.pause(); // its cleaner may hold a worker
            }
        });
        servers.awaitDigested(servers.server(JOINER));
        assertThat(space().available()).isEqualTo(space().limit());

        write("b");
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        assertThat(held()).hasSize(RunningServers.SHARDS).doesNotContainAnyElementsOf(first);
        requireAllThere();
    }

    /** Its blocks have landed before, for a tenure that has ended. */
    @Test
    void shouldNotTakeTheCopyOfALargeObjectForARepetitionFromAnEarlierTenure() {
        write("a");
        servers.holdCopied(true);
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        for (int i = 0; i < 300; i++) {
            servers.pause();
        }
        assertThat(held()).allMatch(ShardReplica::isJoining);
        assertThat(servers.adopt(servers.excluding(JOINER, 0))).isTrue();
        servers.holdCopied(false);
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        requireAllThere();
    }

    /** A replica that was in force, and left while this server did not look, misses what was written meanwhile. */
    @Test
    void shouldBeginAnewWhenAnUnseenConfigurationHadLeftItOut() {
        write("a");
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        servers.awaitReported(JOINER);
        assertThat(servers.adopt(servers.joined(JOINER))).isTrue();
        final List<ShardReplica> first = held();
        assertThat(servers.server(JOINER).joining().join(servers.excluding(JOINER, 0)))
                .isTrue();
        assertThat(held()).as("it is not in force").containsExactlyElementsOf(first);
        assertThat(servers.adopt(servers.excluding(JOINER, 0))).isTrue();
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        assertThat(held()).doesNotContainAnyElementsOf(first);
        requireAllThere();
    }

    @Test
    void shouldReserveTheSpaceOfACopyOncePerEpoch() {
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        requireAllThere();
        servers.holdCopied(true);
        final long before = space().available();
        final var joining = servers.server(JOINER).joining();
        assertThat(joining.announced(0, epoch(0) + 1, 1000, new BitSet())).isTrue();
        assertThat(joining.announced(0, epoch(0) + 1, 1000, new BitSet())).isTrue();
        assertThat(space().available()).as("repeated").isEqualTo(before - 1000);
        assertThat(joining.announced(0, epoch(0), 500, new BitSet())).isTrue();
        assertThat(joining.announced(0, 1, 500, new BitSet())).isTrue();
        assertThat(space().available()).as("late, or void").isEqualTo(before - 1000);
        assertThat(joining.announced(0, epoch(0) + 2, 300, new BitSet())).isTrue();
        assertThat(space().available()).as("of another primary").isEqualTo(before - 300);
        assertThat(joining.announced(77, 9, 300, new BitSet()))
                .as("of no shard")
                .isTrue();

        assertThat(joining.copied(0, epoch(0) + 1)).isTrue();
        agents.step(10);
        assertThat(space().available()).as("that copy does not count any more").isEqualTo(before - 300);
        assertThat(joining.copied(0, epoch(0) + 2)).isTrue();
        assertThat(joining.copied(0, epoch(0) + 2)).isTrue();
        agents.step(10);
        assertThat(space().available()).isEqualTo(before);
    }

    @Test
    void shouldReportShardByShard() {
        write("a");
        servers.holdCopied(true);
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        for (int i = 0; i < 300; i++) {
            servers.pause();
        }
        assertThat(servers.server(JOINER).joining().copied(1, epoch(1))).isTrue();
        while (!servers.isReported(JOINER, 1)) {
            servers.pause();
        }
        assertThat(servers.adopt(servers.joined(JOINER))).isTrue();
        assertThat(servers.configuration().shard(1).isComplete(JOINER)).isTrue();
        assertThat(servers.configuration().shard(0).isJoining(JOINER)).isTrue();
        servers.holdCopied(false);
        requireAllOthersThere();
    }

    /**
     * Between the change of the roles and that of the version counter, a put acquires credit of a joining server for an
     * entry whose space that server takes itself.
     */
    @Test
    void shouldKeepTheCreditForAVersionFromBeforeTheTenure() {
        final String key = "a1";
        final Server primary = servers.server(RunningServers.shardOf(key) % 2);
        write("a");
        final List<Boolean> answered = new ArrayList<>();
        primary.roleChanges().observe(() -> {
            if (answered.isEmpty()) {
                primary.deadline(100_000_000L);
                answered.add(servers.call(RunningServers.put(new Request(), key, Stores.value(key, 2, 900))));
                primary.deadline(20_000_000_000L);
            }
        });
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        requireAllThere();
        assertThat(answered).containsExactly(true);
    }

    private void requireAllOthersThere() {
        while (!servers.isReported(JOINER, RunningServers.SHARDS - 1)) {
            servers.pause();
        }
        assertThat(servers.adopt(servers.joined(JOINER))).isTrue();
        assertThat(servers.configuration().isJoining(JOINER)).isFalse();
        servers.requireAgreement();
        servers.requireExactSpace();
    }
}
