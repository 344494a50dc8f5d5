package org.rowankv.server.scrub;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.cleaning.CleanedShard;
import org.rowankv.server.log.DamagedEntries;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/** The replacement of a damaged entry, step by step; the test drives the other replica's server too. */
final class ReplicaRepairTest {
    private static final long SESSION = 9;
    private static final int VERSION_BYTE = 25;
    private static final int SESSION_BYTE = 48;
    private static final int SEQUENCE_BYTE = 58;

    private final CleanedShard here = new CleanedShard();
    private final CleanedShard peer = new CleanedShard();
    private final Segments segments = here.segments;
    private long peerCycles;
    private long horizon;
    private final ReplicaRepair mending = new ReplicaRepair(
            0,
            segments,
            new Replicas(new ShardReplica[] {here.replica}),
            shard -> List.of(new SiblingReplica(peer.segments, peer.replica, () -> peerCycles)),
            new ErrorLog(SystemClock.INSTANCE),
            unused -> horizon);

    private void onBoth(long sequence, int type, String key) {
        for (CleanedShard each : List.of(here, peer)) {
            each.write(SESSION, sequence, 0, type, key, type == EntryType.PUT ? 100 : 0);
        }
    }

    /** Closes the segment, flips a bit in it, and scrubs. */
    private void damage(long address, int offset) {
        assertThat(here.closeLog()).isTrue();
        damageInPlace(address, offset);
    }

    /** The segment stays as it is. */
    private void damageInPlace(long address, int offset) {
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address) + offset;
        buffer.put(at, (byte) (buffer.get(at) ^ 4));
        final int segment = segments.segmentOf(address);
        segments.damage().suspect(segment, segments.generation(segment));
        for (int step = 0; step < 3; step++) {
            assertThat(mending.step())
                    .as("finds out what is missing, step %d", step)
                    .isTrue();
        }
    }

    private static int valueOffset(String key) {
        return EntryDescriptor.headerLength(EntryDescriptor.HAS_REQUEST) + key.length();
    }

    private long versionHere() {
        final long address = here.addressOf("k");
        return EntryDescriptor.version(
                segments.region().buffer(address), segments.region().offset(address));
    }

    @Test
    void shouldKeepTheAnswerOfAnEntryThatIsMended() {
        onBoth(0, EntryType.SESSION_OPEN, "");
        onBoth(1, EntryType.PUT, "k");
        final long damaged = here.addressOf("k");
        damage(damaged, valueOffset("k"));
        peerCycles = 2;
        assertThat(mending.step()).isTrue();

        final long mended = here.addressOf("k");
        assertThat(mended).isNotEqualTo(damaged);
        final long[] answer = new long[1];
        assertThat(here.replica.sessions(SESSION).readCompletion(SESSION, 0, address -> answer[0] = address))
                .isEqualTo(1);
        assertThat(answer[0]).isEqualTo(mended);
    }

    /** A retry after the next start would take effect a second time; its own session and sequence are damaged. */
    @ParameterizedTest
    @ValueSource(ints = {SESSION_BYTE, SEQUENCE_BYTE})
    void shouldKeepAnEntryForItsAnswerThoughItDoesNotNameItAnyMore(int at) {
        onBoth(0, EntryType.SESSION_OPEN, "");
        onBoth(1, EntryType.PUT, "k");
        final long damaged = here.addressOf("k");
        here.write(SESSION, 2, 1, EntryType.PUT, "k", 100);
        assertThat(here.replica.sessions(SESSION).isNeeded(SESSION, 1, damaged)).isTrue();
        damage(damaged, at);
        peerCycles = 2;
        assertThat(mending.step()).isTrue();
        assertThat(new EntryCheck(segments.region()).isWrittenOff(damaged)).isFalse();
    }

    @Test
    void shouldWriteOffAnEntryWhoseAnswerIsNotNeeded() {
        onBoth(0, EntryType.SESSION_OPEN, "");
        onBoth(1, EntryType.PUT, "k");
        final long damaged = here.addressOf("k");
        here.write(SESSION, 2, 0, EntryType.PUT, "k", 100);
        damage(damaged, SESSION_BYTE);
        peerCycles = 2;
        assertThat(mending.step()).isTrue();
        assertThat(new EntryCheck(segments.region()).isWrittenOff(damaged)).isTrue();
    }

    private DamagedEntries.Suspect useOf(long address) {
        final int segment = segments.segmentOf(address);
        return new DamagedEntries.Suspect(segment, segments.generation(segment));
    }

    private boolean isSuspect(DamagedEntries.Suspect use) {
        return segments.damage().isSuspect(use.segment(), use.generation());
    }

    /** Three seconds of a scrubber that examines only what is reported. */
    private void notScrubbing() {
        final ManualClock clock = new ManualClock();
        final ScrubAgent scrubber = new ScrubAgent(segments, mending, clock, 0);
        for (int step = 0; step < 100; step++) {
            clock.advanceMs(30);
            peerCycles++;
            final int unused = scrubber.doWork();
        }
    }

    /** The scrubber passes over the whole area a few times. */
    private void scrub() {
        final ManualClock clock = new ManualClock();
        final ScrubAgent scrubber = new ScrubAgent(segments, mending, clock, 1 << 30);
        while (scrubber.rounds() < 8) {
            clock.advanceMs(1);
            peerCycles++;
            final int unused = scrubber.doWork();
        }
    }

    /** Else its segment would be kept for ever, and with it all tombstones that are written from then on. */
    @Test
    void shouldSettleASegmentOnceALostObjectIsWrittenAnew() {
        here.write(EntryType.PUT, "k", 100);
        here.replica.raiseCommitVersion(here.version());
        final long damaged = here.addressOf("k");
        damage(damaged, valueOffset("k"));
        final DamagedEntries.Suspect use = useOf(damaged);
        scrub();
        assertThat(isSuspect(use)).isTrue();
        assertThat(segments.damage().lostEntries()).isOne();
        assertThat(segments.damage().badEntries())
                .as("however often it is examined")
                .isOne();

        here.write(EntryType.PUT, "k", 100);
        scrub();
        assertThat(isSuspect(use)).isFalse();
        assertThat(segments.damage().isLost(damaged, use.generation())).isFalse();
        assertThat(segments.damage().lostEntries()).as("counted on").isOne();
        assertThat(segments.damage().badEntries()).isOne();
    }

    @Test
    void shouldSettleASegmentOnceAllThatADamagedTombstoneEndedIsGone() {
        here.write(EntryType.PUT, "k", 100);
        final long tombstone = here.write(EntryType.DELETE, "k", 0);
        here.replica.raiseCommitVersion(here.version());
        assertThat(here.replica.forgetDeletions(1)).isOne();
        horizon = segments.lastSequence();
        damage(tombstone, VERSION_BYTE);
        final DamagedEntries.Suspect use = useOf(tombstone);
        scrub();
        assertThat(isSuspect(use)).isTrue();

        horizon = segments.lastSequence() + 1;
        scrub();
        assertThat(isSuspect(use)).isFalse();
        assertThat(new EntryCheck(segments.region()).isWrittenOff(tombstone))
                .as("a start before its segment is cleaned must not take the area for complete")
                .isFalse();
    }

    /** Readers must not see a write that a start may still undo. */
    @Test
    void shouldAwaitThatANewerOneIsOnAllReplicas() {
        onBoth(1, EntryType.PUT, "k");
        here.replica.raiseCommitVersion(here.version());
        peer.write(SESSION, 2, 0, EntryType.PUT, "k", 100);
        final long damaged = here.addressOf("k");
        damage(damaged, valueOffset("k"));
        peerCycles = 2;
        assertThat(mending.step()).isFalse();
        assertThat(here.addressOf("k")).isEqualTo(damaged);

        here.replica.raiseCommitVersion(peer.version());
        assertThat(mending.step()).isTrue();
        assertThat(versionHere()).isEqualTo(peer.version());
    }

    /** Its version is unreadable: until the peer has digested what had landed there, its newest one may be older. */
    @Test
    void shouldAwaitThatThePeerHasDigestedWhatHadLanded() {
        onBoth(1, EntryType.PUT, "k");
        here.write(SESSION, 2, 0, EntryType.PUT, "k", 100);
        here.replica.raiseCommitVersion(here.version());
        damage(here.addressOf("k"), VERSION_BYTE);
        assertThat(mending.step()).isFalse();
        peerCycles = 1; // of the cycle in progress
        assertThat(mending.step()).isFalse();

        peer.write(SESSION, 2, 0, EntryType.PUT, "k", 100);
        peerCycles = 2;
        assertThat(mending.step()).isTrue();
        assertThat(versionHere()).isEqualTo(here.version());
    }

    /** An idle server would answer CORRUPTED until so much is written that the segment is full. */
    @Test
    void shouldMendWhatIsInASegmentThatIsWrittenTo() {
        onBoth(0, EntryType.SESSION_OPEN, "");
        onBoth(1, EntryType.PUT, "k");
        here.replica.raiseCommitVersion(here.version());
        final long damaged = here.addressOf("k");
        final DamagedEntries.Suspect use = useOf(damaged);
        damageInPlace(damaged, valueOffset("k"));
        here.write(SESSION, 2, 1, EntryType.PUT, "later", 100);
        peerCycles = 2;
        assertThat(mending.step()).isTrue();

        assertThat(here.addressOf("k")).isNotEqualTo(damaged);
        assertThat(isSuspect(use)).isFalse();
        assertThat(segments.damage().replacedEntries()).isOne();
        assertThat(here.closeLog()).isTrue();
        scrub();
        assertThat(segments.damage().badEntries()).isOne();
        assertThat(segments.damage().lostEntries()).isZero();
        assertThat(new EntryCheck(segments.region()).isWrittenOff(damaged))
                .as("a start must not miss it")
                .isTrue();
    }

    /** It would become the committed one, though a start may still undo it. */
    @Test
    void shouldMendNothingUncommitted() {
        onBoth(1, EntryType.PUT, "k");
        final long damaged = here.addressOf("k");
        final DamagedEntries.Suspect use = useOf(damaged);
        damageInPlace(damaged, valueOffset("k"));
        peerCycles = 2;
        assertThat(mending.step()).isTrue();
        assertThat(here.addressOf("k")).isEqualTo(damaged);

        here.replica.raiseCommitVersion(here.version());
        notScrubbing();
        assertThat(here.addressOf("k")).isNotEqualTo(damaged);
        assertThat(isSuspect(use)).isFalse();
    }

    /** Nothing else will say that it was replaced, and its segment would never be freed. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void shouldAccountForAReplacedOneWhoseWordIsDamaged(int at) {
        onBoth(0, EntryType.SESSION_OPEN, "");
        onBoth(1, EntryType.PUT, "k");
        here.replica.raiseCommitVersion(here.version());
        final long damaged = here.addressOf("k");
        final DamagedEntries.Suspect use = useOf(damaged);
        damageInPlace(damaged, at);
        here.write(SESSION, 2, 1, EntryType.PUT, "later", 100);
        peerCycles = 2;
        assertThat(mending.step()).isTrue();
        assertThat(here.addressOf("k")).isNotEqualTo(damaged);
        assertThat(here.closeLog()).isTrue();
        scrub();
        assertThat(isSuspect(use)).isFalse();
        assertThat(segments.damage().badEntries()).isOne();
        assertThat(segments.damage().replacedEntries()).isOne();
    }

    /** A flip has made its version that of the value before it, which is committed. */
    @Test
    void shouldNotMendWithAnOlderOneWhoseVersionTheDamagedOneHas() {
        onBoth(1, EntryType.PUT, "k");
        final long older = here.version();
        here.replica.raiseCommitVersion(older);
        here.write(SESSION, 2, 0, EntryType.PUT, "k", 100);
        final long damaged = here.addressOf("k");
        final int at = segments.region().offset(damaged);
        damageInPlace(damaged, valueOffset("k"));
        segments.region().buffer(damaged).putLong(at + VERSION_BYTE - 1, older);
        peerCycles = 2;
        assertThat(mending.step()).isTrue();
        assertThat(here.addressOf("k")).isEqualTo(damaged);
    }

    /** A newer entry of the key would have an item beside it. */
    @Test
    void shouldMendNothingWhoseKeyIsDamagedBeforeTheSegmentIsCommitted() {
        onBoth(1, EntryType.PUT, "k");
        here.replica.raiseCommitVersion(here.version());
        final long damaged = here.addressOf("k");
        damageInPlace(damaged, valueOffset("k") - 1);
        peerCycles = 2;
        assertThat(mending.step()).isTrue();
        assertThat(here.replica.index().refers(here.positionOf("k"), damaged)).isTrue();
    }

    /** The damaged one may be newer than what is committed of its key: an older value would take its place. */
    @Test
    void shouldMendOnlyFromTheSameVersionBeforeTheSegmentIsCommitted() {
        onBoth(1, EntryType.PUT, "k");
        here.replica.raiseCommitVersion(here.version());
        here.write(SESSION, 2, 0, EntryType.PUT, "k", 100);
        final long damaged = here.addressOf("k");
        final DamagedEntries.Suspect use = useOf(damaged);
        damageInPlace(damaged, VERSION_BYTE);
        peerCycles = 2;
        assertThat(mending.step()).isTrue();
        assertThat(here.addressOf("k")).isEqualTo(damaged);
        assertThat(isSuspect(use)).as("examined again at the next pass").isTrue();
        assertThat(segments.damage().lostEntries()).isZero();

        peer.write(SESSION, 2, 0, EntryType.PUT, "k", 100);
        here.replica.raiseCommitVersion(here.version());
        assertThat(here.closeLog()).isTrue();
        scrub();
        assertThat(versionHere()).isEqualTo(peer.version());
        assertThat(isSuspect(use)).isFalse();
    }
}
