package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.scrub.PeerReplica;
import org.rowankv.server.scrub.ReplicaRepair;
import org.rowankv.server.scrub.ScrubAgent;
import org.rowankv.server.scrub.SiblingReplica;

/**
 * A tombstone is dropped when nothing is left that it ends. In each case a dead copy of a removed object stays in a
 * segment that the cleaner skips, while the cleaner passes all others repeatedly, and drops the tombstones it may.
 * Whenever the process ends, the next one must not find the object.
 */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class TombstoneCascadeTest {
    private static final String KEY = "k";
    private static final long SESSION = 9;
    private static final int ROUNDS = 20;
    private static final int REPAIR_CYCLES = 20;

    private final CascadeShard shard = new CascadeShard();

    @AfterEach
    void leave() {
        Chaos.reset();
    }

    /** How a dead copy arrives in a segment that was opened after the tombstone. */
    enum Case {
        /** The object is removed while the cleaner copies it. */
        BORN_DEAD {
            @Override
            void bury(CascadeShard shard) {
                putBesideWhatStays(shard);
                shard.closeCleanersLog();
                final long original = shard.addressOf(KEY);
                Chaos.install(point -> {
                    if (point.equals("clean.before-copy")) {
                        Chaos.reset();
                        shard.write(EntryType.DELETE, KEY, 0);
                        shard.closeLogWorthCleaning();
                    }
                });
                cleanUntilMoved(shard, original);
            }
        },
        /** The object is cleared, and the cleaner copies it before the sweep. */
        CLEARED {
            @Override
            void bury(CascadeShard shard) {
                putBesideWhatStays(shard);
                shard.closeCleanersLog();
                final long original = shard.addressOf(KEY);
                shard.write(EntryType.CLEAR, "", 0);
                shard.closeLogWorthCleaning();
                cleanUntilMoved(shard, original);
                sweep(shard);
            }
        },
        /** The object is cleared, and not swept. */
        NOT_SWEPT {
            @Override
            void bury(CascadeShard shard) {
                // Nothing else in its segment is dead.
                shard.write(EntryType.PUT, KEY, 100);
                shard.write(EntryType.PUT, CascadeShard.OTHER, "stays", 0, 5_000);
                shard.closeLog();
                shard.write(EntryType.CLEAR, "", 0);
                shard.closeLogWorthCleaning();
            }
        },
        /** A start copies an entry from another replica, for its completion, after its tombstone. */
        TAKEN_OVER {
            @Override
            void bury(CascadeShard shard) {
                final ByteBuffer elsewhere = shard.elsewhere(KEY, SESSION, 100);
                shard.write(EntryType.DELETE, KEY, 0);
                shard.closeLogWorthCleaning();
                shard.restart(server -> server.takeOver(elsewhere, 0, 1));
            }
        },
        /** A start assembles an entry from blocks, for its completion, after its tombstone. */
        ASSEMBLED {
            @Override
            void bury(CascadeShard shard) {
                shard.putInBlocks(KEY, SESSION, 1_000);
                shard.closeLogWorthCleaning();
                shard.write(EntryType.DELETE, KEY, 0);
                shard.closeLogWorthCleaning();
                shard.restart(server -> {});
            }
        },
        /** The object is damaged; it is removed while it is copied from another replica. */
        MENDED {
            @Override
            void bury(CascadeShard shard) {
                final CascadeShard peer = new CascadeShard();
                peer.write(EntryType.PUT, KEY, 100);
                putBesideWhatStays(shard);
                shard.commit();
                final long original = shard.addressOf(KEY);
                final int segment = shard.segments.segmentOf(original);
                final ByteBuffer buffer = shard.segments.region().buffer(original);
                final int at = shard.segments.region().offset(original) + 64;
                buffer.put(at, (byte) (buffer.get(at) ^ 1));
                final AtomicLong cycles = new AtomicLong();
                final AtomicInteger asked = new AtomicInteger();
                final PeerReplica other = new SiblingReplica(peer.segments, peer.replica, cycles::incrementAndGet);
                final ScrubAgent scrubber = new ScrubAgent(
                        shard.segments,
                        new ReplicaRepair(
                                0,
                                shard.segments,
                                shard.replicas,
                                ofShard -> {
                                    if (asked.incrementAndGet() == 3) {
                                        // The entry was found to be needed, and is not yet copied.
                                        shard.write(EntryType.DELETE, KEY, 0);
                                        shard.closeLogWorthCleaning();
                                    }
                                    return List.of(other);
                                },
                                new ErrorLog(shard.clock),
                                shard.segments::tombstoneHorizonWithout),
                        shard.clock,
                        0);
                shard.segments.damage().suspect(segment, shard.segments.generation(segment));
                for (int cycle = 0; cycle < REPAIR_CYCLES; cycle++) {
                    scrubber.doWork();
                }
                assertThat(asked.get()).isGreaterThanOrEqualTo(3);
                assertThat(shard.segments.damage().replacedEntries()).isEqualTo(1);
            }
        };

        /** Writes and removes the object, so that a dead copy is left. */
        abstract void bury(CascadeShard shard);

        /** Live entries beside the object keep its segments. */
        private static void putBesideWhatStays(CascadeShard shard) {
            shard.write(EntryType.PUT, KEY, 100);
            shard.write(EntryType.PUT, CascadeShard.OTHER, "stays", 0, 5_000);
            shard.closeLogWorthCleaning();
        }

        private static void cleanUntilMoved(CascadeShard shard, long original) {
            final int victim = shard.segments.segmentOf(original);
            final int generation = shard.segments.generation(victim);
            while (shard.segments.generation(victim) == generation) {
                assertThat(shard.cleaner.cleanOne()).isTrue();
            }
        }

        private static void sweep(CascadeShard shard) {
            while (!shard.sweep.isDone()) {
                shard.sweep.doWork();
            }
        }
    }

    /** Runs the cleaner by whole segments and by cycles; after each step the process may end. */
    private void cascade() {
        for (int round = 0; round < ROUNDS; round++) {
            shard.closeLogWorthCleaning();
            shard.commit();
            shard.cleaner.cleanOne();
            requireGone();
            shard.cleaner.requestSpace();
            for (int cycle = 0; cycle < 20; cycle++) {
                shard.clock.advanceMs(1);
                shard.cleaner.doWork();
            }
            requireGone();
        }
    }

    private void requireGone() {
        assertThat(shard.isFoundByAStart(KEY)).as("a removed object came back").isFalse();
    }

    private void leaveTheDeadAlone() {
        shard.commit();
        shard.closeCleanersLog();
        shard.leftAlone.addAll(shard.segmentsWith(EntryType.PUT, KEY));
    }

    /** Nothing holds the tombstone any more: it is dropped. */
    private void end() {
        shard.leftAlone.clear();
        while (!shard.sweep.isDone()) {
            shard.sweep.doWork();
        }
        cascade();
        assertThat(shard.segmentsWith(EntryType.DELETE, KEY)).isEmpty();
        assertThat(shard.segmentsWith(EntryType.CLEAR, "")).isEmpty();
        assertThat(shard.segmentsWith(EntryType.PUT, KEY)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Case.class)
    void shouldStayGoneWhileADeadCopyIsThere(Case what) {
        what.bury(shard);
        requireGone();
        leaveTheDeadAlone();
        assertThat(shard.leftAlone).as("dead copies").isNotEmpty();

        cascade();

        assertThat(shard.segmentsWith(EntryType.PUT, KEY))
                .as("dead copies that stay")
                .isNotEmpty();
        end();
    }

    /** A lowered horizon is lost with the process. */
    @ParameterizedTest
    @EnumSource(Case.class)
    void shouldStayGoneOverTwoRestarts(Case what) {
        what.bury(shard);
        assertThat(shard.segmentsWith(EntryType.PUT, KEY)).as("dead copies").isNotEmpty();
        for (int restart = 0; restart < 2; restart++) {
            leaveTheDeadAlone();
            cascade();
            shard.restart(server -> {});
            requireGone();
        }
        leaveTheDeadAlone();
        cascade();
        end();
    }

    /** A cache that is cleared again and again has always a clear that awaits its sweep. */
    @Test
    void shouldDropTombstonesFromBeforeTheClearThatAwaitsItsSweep() {
        shard.write(EntryType.PUT, "removed", 100);
        shard.write(EntryType.DELETE, "removed", 0);
        shard.closeLogWorthCleaning();
        Case.NOT_SWEPT.bury(shard);

        cascade();

        assertThat(shard.segmentsWith(EntryType.DELETE, "removed")).isEmpty();
        assertThat(shard.segmentsWith(EntryType.CLEAR, "")).isNotEmpty();
        assertThat(shard.segmentsWith(EntryType.PUT, KEY)).isNotEmpty();
        end();
    }

    /** It was damaged when the sweep met it, and is repaired from a replica that has not swept it. */
    @Test
    void shouldSweepWhatIsRepairedAfterTheSweep() {
        final CascadeShard peer = new CascadeShard();
        peer.write(EntryType.PUT, KEY, 100);
        Case.putBesideWhatStays(shard);
        shard.commit();
        final long original = shard.addressOf(KEY);
        final int segment = shard.segments.segmentOf(original);
        final ByteBuffer buffer = shard.segments.region().buffer(original);
        final int at = shard.segments.region().offset(original) + 64;
        buffer.put(at, (byte) (buffer.get(at) ^ 1));
        shard.write(EntryType.CLEAR, "", 0);
        shard.closeLogWorthCleaning();
        shard.commit();
        Case.sweep(shard);
        assertThat(shard.addressOf(KEY)).isEqualTo(original);
        final AtomicLong cycles = new AtomicLong();
        final PeerReplica other = new SiblingReplica(peer.segments, peer.replica, cycles::incrementAndGet);
        final ScrubAgent scrubber = new ScrubAgent(
                shard.segments,
                new ReplicaRepair(
                        0,
                        shard.segments,
                        shard.replicas,
                        ofShard -> List.of(other),
                        new ErrorLog(shard.clock),
                        shard.segments::tombstoneHorizonWithout),
                shard.clock,
                0);
        shard.segments.damage().suspect(segment, shard.segments.generation(segment));
        for (int cycle = 0; cycle < REPAIR_CYCLES; cycle++) {
            scrubber.doWork();
        }
        assertThat(shard.segments.damage().replacedEntries()).isEqualTo(1);

        Case.sweep(shard);

        assertThat(shard.addressOf(KEY)).isZero();
        requireGone();
    }

    /** A deletion that is moved while it is remembered leaves the index when it is forgotten. */
    @Test
    void shouldForgetADeletionThatTheCleanerHasMoved() {
        shard.write(EntryType.PUT, KEY, 100);
        final long deletion = shard.write(EntryType.DELETE, KEY, 0);
        shard.closeLogWorthCleaning();
        shard.closeLogWorthCleaning();
        Case.cleanUntilMoved(shard, deletion);
        assertThat(shard.addressOf(KEY)).isNotZero().isNotEqualTo(deletion);
        final long items = shard.replica.index().count();

        shard.commit();

        assertThat(shard.replica.deletions().size()).isZero();
        assertThat(shard.addressOf(KEY)).isZero();
        assertThat(shard.replica.index().count()).isEqualTo(items - 1);
    }
}
