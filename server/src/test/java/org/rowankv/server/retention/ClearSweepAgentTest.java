package org.rowankv.server.retention;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Ttl;
import org.rowankv.server.shard.Clears;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

final class ClearSweepAgentTest {
    /** They take more buckets than one cycle of the sweep visits. */
    private static final int OBJECTS = 3_000;

    private final OnePrimary one = new OnePrimary();
    private final Replicas replicas = new Replicas(new ShardReplica[] {one.replica});
    private final ClearSweepAgent sweep = new ClearSweepAgent(one.segments, replicas);

    /** The index keeps pointing to it, and the clear keeps hiding it: its length is unknown. */
    @Test
    void shouldLeaveAnEntryWithADamagedHeader() {
        one.put(1, "damaged", 10, Ttl.ETERNAL);
        one.put(1, "whole", 10, Ttl.ETERNAL);
        final long damaged = one.addressOf(1, "damaged");
        final int lengthAt = one.segments.region().offset(damaged) + 5;
        one.segments.region().buffer(damaged).put(lengthAt, (byte) 0x80);
        one.clear(1);

        sweepAll();

        assertThat(one.replica.counts().objects(1)).isOne();
        assertThat(one.addressOf(1, "damaged")).isEqualTo(damaged);
        assertThat(one.addressOf(1, "whole")).isZero();
        final Clears clears = one.replica.clears();
        assertThat(clears.notRemoved(clears.forCheckpoint()))
                .as("for checkpoints")
                .hasSize(1);
    }

    /** One bit of its version has flipped: the object is there, and the scrubber takes it from another replica. */
    @Test
    void shouldLeaveAnEntryThatOnlyLooksCleared() {
        one.put(1, "damaged", 10, Ttl.ETERNAL);
        one.put(2, "cleared", 10, Ttl.ETERNAL);
        final long damaged = one.addressOf(1, "damaged");
        final int signAt = one.segments.region().offset(damaged) + 31;
        one.segments.region().buffer(damaged).put(signAt, (byte) 0x80);
        one.clear(2);

        sweepAll();

        assertThat(one.addressOf(1, "damaged")).isEqualTo(damaged);
        assertThat(one.addressOf(2, "cleared")).isZero();
        assertThat(one.segments.damage().poll()).as("for the scrubber").isNotNull();
    }

    private void sweepAll() {
        while (sweep.doWork() > 0) {
            assertThat(one.replica.index().count()).isPositive();
        }
    }

    @Test
    void shouldSweepFromTheBeginningWhatIsClearedInTheMiddleOfASweep() {
        for (int i = 0; i < OBJECTS; i++) {
            one.put(1 + i % 3, "k" + i, 10, Ttl.ETERNAL);
        }
        one.clear(1);
        assertThat(sweep.doWork()).isOne();
        assertThat(one.replica.counts().objects(1)).as("it is half way").isPositive();

        one.clear(2);
        while (sweep.doWork() > 0) {
            assertThat(one.replica.index().count()).isNotNegative();
        }

        assertThat(sweep.isDone()).isTrue();
        assertThat(one.replica.counts().objects(1)).isZero();
        assertThat(one.replica.counts().objects(2)).isZero();
        assertThat(one.replica.index().count()).isEqualTo(OBJECTS / 3);
    }

    /** So tombstones that are older than the last clears are dropped, however often caches are cleared. */
    @Test
    void shouldHoldTheHorizonNoLongerThanASweepTakes() {
        one.replica.recovered(1);
        for (int i = 0; i < OBJECTS; i++) {
            one.put(1 + i % 3, "k" + i, 10, Ttl.ETERNAL);
        }
        one.clear(1);
        final long first = one.segments.lastSequence();
        openSegments();
        assertThat(sweep.doWork()).isOne();
        one.clear(2);
        final long second = one.segments.lastSequence();
        assertThat(second).isGreaterThan(first);
        openSegments();
        assertThat(sweep.horizon()).isEqualTo(first);

        while (sweep.horizon() == first) {
            assertThat(sweep.doWork()).isOne();
        }

        assertThat(sweep.horizon()).isEqualTo(second);
        assertThat(one.replica.counts().objects(2)).isPositive();
        sweepAll();
        assertThat(sweep.horizon()).isEqualTo(one.segments.lastSequence());
    }

    private void openSegments() {
        for (int i = 0; i < 3; i++) {
            one.put(4, "filling", 30_000, Ttl.ETERNAL);
        }
    }

    /** There are as many clears as of the former replica, all of which were swept. */
    @Test
    void shouldSweepTheReplicaOfTheNextTenure() {
        final OnePrimary next = new OnePrimary();
        one.clear(1);
        while (!sweep.isDone()) {
            assertThat(sweep.doWork()).isOne();
        }

        replicas.end(one.replica);
        assertThat(sweep.isDone()).as("nothing is there").isTrue();
        next.clear(1);
        replicas.begin(next.replica);
        assertThat(sweep.isDone()).isFalse();
        assertThat(sweep.doWork()).isOne();
    }

    @Test
    void shouldLeaveAReplicaThatIsGivenUpInTheMiddleOfASweep() {
        for (int i = 0; i < OBJECTS; i++) {
            one.put(1, "k" + i, 10, Ttl.ETERNAL);
        }
        one.clear(1);
        assertThat(sweep.doWork()).isOne();
        replicas.end(one.replica);
        assertThat(sweep.doWork()).isZero();
        assertThat(sweep.isIdle()).isTrue();
        assertThat(one.replica.counts().objects(1)).isPositive();
    }

    /** Each clear concerns all shards, and comes before they are all swept. */
    @Test
    void shouldReachEveryShardHoweverOftenCachesAreCleared() {
        final ShardReplica second = new ShardReplica(1, 2, new KeyHash(7), one.segments, 1);
        final ClearSweepAgent both =
                new ClearSweepAgent(one.segments, new Replicas(new ShardReplica[] {one.replica, second}));
        for (int i = 0; i < OBJECTS; i++) {
            one.put(1, "k" + i, 10, Ttl.ETERNAL);
        }
        one.put(2, "of the second", 10, Ttl.ETERNAL);
        second.index().lock(1);
        second.index().put(0, one.addressOf(2, "of the second"));
        second.index().unlock();
        second.restore(null, 0, List.of(new Clears.Clear(2, Long.MAX_VALUE)), List.of());
        for (int turn = 0; turn < 200; turn++) {
            one.clear(3);
            assertThat(both.doWork()).isOne();
        }
        assertThat(second.index().count()).isZero();
    }
}
