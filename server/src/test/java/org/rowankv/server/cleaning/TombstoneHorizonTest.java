package org.rowankv.server.cleaning;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/** A tombstone must not be dropped before what it ends is gone, wherever a cleaner has moved that meanwhile. */
final class TombstoneHorizonTest {
    private final CleanedShard shard = new CleanedShard();
    private final Segments segments = shard.segments;
    private final ShardReplica replica = shard.replica;

    /** One object is live, one is dead: the segment is worth cleaning. */
    private long oldSegmentWith(String key) {
        shard.write(EntryType.PUT, key, 100);
        shard.writeWhatSoonIsDead();
        return shard.addressOf(key);
    }

    @Test
    void shouldTakeACopyThatLivesForAsNewAsItsSegment() {
        final long original = oldSegmentWith("k");
        final long numberOfTheOriginal = segments.horizon(segments.segmentOf(original));
        shard.write(EntryType.PUT, "later", 40_000);
        shard.closeLog();
        assertThat(shard.cleaner.cleanOne()).isTrue();
        final long copy = shard.addressOf("k");
        assertThat(copy).isNotEqualTo(original);
        final int segment = segments.segmentOf(copy);
        assertThat(segments.horizon(segment))
                .isEqualTo(segments.sequence(segment))
                .isGreaterThan(numberOfTheOriginal);
    }

    @Test
    void shouldTakeACopyOfWhatAClearHasEndedForAsOldAsTheOriginal() {
        final long original = oldSegmentWith("k");
        final long numberOfTheOriginal = segments.horizon(segments.segmentOf(original));
        shard.write(EntryType.CLEAR, "", 0);
        final long clear = shard.version();
        shard.write(EntryType.PUT, "later", 40_000);
        shard.closeLog();
        assertThat(replica.clears().clearedUpTo(CleanedShard.CACHE)).isEqualTo(clear);
        assertThat(shard.cleaner.cleanOne()).isTrue();
        final long copy = shard.addressOf("k");
        assertThat(copy).isNotEqualTo(original); // not swept yet: it is still in the index
        assertThat(segments.horizon(segments.segmentOf(copy))).isLessThanOrEqualTo(numberOfTheOriginal);
        // Swept, it is dead; and while the copy exists, the horizon stays before the clear.
        replica.index().remove(shard.positionOf("k"), copy);
        final int length = FrameDescriptor.length(FrameDescriptor.wordPlain(
                segments.region().buffer(copy), segments.region().offset(copy)));
        segments.markDead(copy, length);
        shard.clearHorizon = Long.MAX_VALUE;
        assertThat(segments.tombstoneHorizon()).isLessThanOrEqualTo(numberOfTheOriginal);
    }

    @Test
    void shouldHoldTheHorizonWhileSomethingThatADeletionEndedIsThere() {
        final long original = oldSegmentWith("k");
        final long numberOfTheOriginal = segments.horizon(segments.segmentOf(original));
        shard.write(EntryType.DELETE, "k", 0);
        shard.write(EntryType.PUT, "later", 40_000);
        shard.closeLog();
        assertThat(segments.tombstoneHorizon()).isEqualTo(numberOfTheOriginal);
        shard.clearHorizon = Long.MAX_VALUE;
        assertThat(shard.cleaner.cleanOne()).isTrue(); // the segment with the deleted object
        assertThat(segments.tombstoneHorizon()).isGreaterThan(numberOfTheOriginal);
    }
}
