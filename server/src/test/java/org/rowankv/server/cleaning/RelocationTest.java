package org.rowankv.server.cleaning;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/** An entry that is superseded between its copy and the update of the index. */
@Tag("chaos")
final class RelocationTest {
    private static final long SESSION = 9;

    private final CleanedShard shard = new CleanedShard();
    private final Segments segments = shard.segments;

    @AfterEach
    void leave() {
        Chaos.reset();
    }

    private long copied(Runnable meanwhile) {
        Chaos.install(point -> {
            if (point.equals("clean.copied")) {
                Chaos.reset();
                meanwhile.run();
            }
        });
        assertThat(shard.cleaner.cleanOne()).isTrue();
        final long[] found = new long[1];
        shard.replica.sessions(SESSION).readCompletion(SESSION, 0, address -> found[0] = address);
        return found[0];
    }

    private int lengthAt(long address) {
        return FrameDescriptor.length(FrameDescriptor.wordPlain(
                segments.region().buffer(address), segments.region().offset(address)));
    }

    @Test
    void shouldCountACopyDeadOnceThatIsKeptForAnAnswer() {
        shard.write(SESSION, 0, 0, EntryType.SESSION_OPEN, "", 0);
        final long original = shard.write(SESSION, 1, 0, EntryType.PUT, "k", 100);
        shard.writeWhatSoonIsDead();

        final long copy = copied(() -> shard.write(SESSION, 2, 1, EntryType.PUT, "k", 200));

        assertThat(copy).isNotEqualTo(original);
        assertThat(segments.deadBytes(segments.segmentOf(copy))).isZero(); // its response may still be requested
        assertThat(segments.holdsHorizon(segments.segmentOf(copy))).isTrue();
        final int length = lengthAt(copy);
        shard.write(SESSION, 3, 0, EntryType.PUT, "k", 300);
        assertThat(segments.deadBytes(segments.segmentOf(copy))).isEqualTo(segments.charge(length));
    }

    @Test
    void shouldCountACopyDeadThatNobodyAsksFor() {
        final int length = lengthAt(shard.write(EntryType.PUT, "k", 100));
        shard.write(SESSION, 0, 0, EntryType.SESSION_OPEN, "", 0);
        shard.write(SESSION, 1, 0, EntryType.PUT, "answered", 100);
        shard.writeWhatSoonIsDead();

        final long answered = copied(() -> shard.write(EntryType.PUT, "k", 200));

        assertThat(segments.deadBytes(segments.segmentOf(answered))).isEqualTo(segments.charge(length));
    }

    /**
     * The victim stays, as when a reader has pinned it meanwhile: its dead entry has a record elsewhere with its
     * response.
     */
    @Test
    void shouldCountAnEntryDeadThatARecordStandsFor() {
        shard.write(SESSION, 0, 0, EntryType.SESSION_OPEN, "", 0);
        final long original = shard.write(SESSION, 1, 0, EntryType.PUT, "k", 1_000);
        shard.write(SESSION, 2, 1, EntryType.PUT, "k", 200);
        shard.writeWhatSoonIsDead();
        final int victim = segments.segmentOf(original);
        Chaos.install(point -> {
            if (point.equals("clean.before-drain")) {
                segments.pins().pinAll(0);
                segments.pins().hold();
            }
        });

        assertThat(shard.cleaner.cleanOne()).isTrue();

        assertThat(shard.cleaner.cleanedSegments()).isZero();
        assertThat(segments.entryBytes(victim)).isPositive();
        assertThat(segments.deadBytes(victim)).isEqualTo(segments.entryBytes(victim));
        assertThat(shard.replica
                        .sessions(SESSION)
                        .readCompletion(
                                SESSION,
                                0,
                                address ->
                                        assertThat(segments.segmentOf(address)).isNotEqualTo(victim)))
                .isEqualTo(1);
    }

    private Relocation relocated(int victim, long horizon) {
        final Relocation relocation =
                new Relocation(segments, new Replicas(new ShardReplica[] {shard.replica}), RetainedEntries.NONE);
        relocation.begin(victim, horizon);
        while (!relocation.step(segments.length())) {
            // Not done.
        }
        assertThat(relocation.finish(true)).isTrue();
        return relocation;
    }

    /** The entry that it ended may lie in the last segment opened before the tombstone's own was closed. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldDropATombstoneOnlyBehindItsStamp(int behind) {
        shard.write(EntryType.PUT, "k", 100);
        final int victim = segments.segmentOf(shard.write(EntryType.DELETE, "k", 0));
        shard.write(EntryType.PUT, "k", 100);
        shard.closeLog();
        final long stamp = segments.effectiveStamp(victim, 0);

        assertThat(relocated(victim, stamp + behind).tombstonesDropped()).isEqualTo(behind);
    }

    /** The victim stays, as when a reader has pinned it meanwhile: its tombstone then lies in two places. */
    @Test
    void shouldChargeATombstoneTwiceThatLiesTwice() {
        shard.write(EntryType.PUT, "k", 100);
        final long deletion = shard.write(EntryType.DELETE, "k", 0);
        shard.writeWhatSoonIsDead();
        Chaos.install(point -> {
            if (point.equals("clean.before-drain")) {
                segments.pins().pinAll(0);
                segments.pins().hold();
            }
        });
        final long before = segments.space().available();

        assertThat(shard.cleaner.cleanOne()).isTrue();

        assertThat(shard.cleaner.cleanedSegments()).isZero();
        assertThat(before - segments.space().available()).isEqualTo(segments.charge(lengthAt(deletion)));
    }
}
