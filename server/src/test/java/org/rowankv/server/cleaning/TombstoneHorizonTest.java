package org.rowankv.server.cleaning;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.rowankv.placement.KeyHash;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.pm.Area;
import org.rowankv.server.pm.AreaSettings;
import org.rowankv.server.pm.Durability;
import org.rowankv.server.pm.SegmentOwner;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/** A tombstone must not be dropped before what it ends is gone, wherever a cleaner has moved that meanwhile. */
final class TombstoneHorizonTest {
    private static final int CACHE = 3;
    private static final int OWNER = 1;
    private static final KeyHash HASH = new KeyHash(11);

    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            1 << 20);
    private final ShardReplica replica = new ShardReplica(0, 1, HASH, segments, 1);
    private final AppendLog log = new AppendLog(segments, SegmentOwner.WORKER);
    private final EntryDraft draft = new EntryDraft();
    private long version = Version.of(1, 0);
    private boolean swept;

    private final CleanAgent cleaner = new CleanAgent(
            segments,
            new Replicas(new ShardReplica[] {replica}),
            segment -> false,
            sequence -> {},
            () -> swept,
            () -> true,
            SystemClock.INSTANCE,
            0,
            segments.count());

    private long write(int type, String key, int valueLength) {
        final byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        version = Version.next(version);
        draft.begin(type, 0, CACHE).key(bytes, 0, bytes.length).version(version);
        if (valueLength > 0) {
            draft.value(new byte[valueLength], 0, valueLength);
        }
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        assertThat(log.ensureRoom(length)).isTrue();
        final long address = log.append(draft, 1);
        final long position =
                EntryType.isKeyed(type) ? replica.positionOf(HASH.hash(CACHE, bytes, 0, bytes.length)) : 0;
        replica.apply(OWNER, position, address, type, length);
        return address;
    }

    private long addressOf(String key) {
        final byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        return replica.index()
                .find(replica.positionOf(HASH.hash(CACHE, bytes, 0, bytes.length)), CACHE, bytes, 0, bytes.length);
    }

    private void closeLog() {
        log.retire();
    }

    /** One object lives, one is dead: the segment is worth cleaning. */
    private long oldSegmentWith(String key) {
        write(EntryType.PUT, key, 100);
        write(EntryType.PUT, "other", 20_000);
        write(EntryType.PUT, "other", 20_000);
        closeLog();
        return addressOf(key);
    }

    @Test
    void shouldTakeACopyThatLivesForAsNewAsItsSegment() {
        final long original = oldSegmentWith("k");
        final int numberOfTheOriginal = segments.horizon(segments.segmentOf(original));
        write(EntryType.PUT, "later", 40_000);
        closeLog();
        assertThat(cleaner.cleanOne()).isTrue();
        final long copy = addressOf("k");
        assertThat(copy).isNotEqualTo(original);
        final int segment = segments.segmentOf(copy);
        assertThat(segments.horizon(segment))
                .isEqualTo(segments.sequence(segment))
                .isGreaterThan(numberOfTheOriginal);
    }

    @Test
    void shouldTakeACopyOfWhatAClearHasEndedForAsOldAsTheOriginal() {
        final long original = oldSegmentWith("k");
        final int numberOfTheOriginal = segments.horizon(segments.segmentOf(original));
        write(EntryType.CLEAR, "", 0);
        final long clear = version;
        write(EntryType.PUT, "later", 40_000);
        closeLog();
        assertThat(replica.clears().clearedUpTo(CACHE)).isEqualTo(clear);
        assertThat(cleaner.cleanOne()).isTrue();
        final long copy = addressOf("k");
        assertThat(copy).isNotEqualTo(original); // the sweep has not come by yet: it is still in the index
        assertThat(segments.horizon(segments.segmentOf(copy))).isLessThanOrEqualTo(numberOfTheOriginal);
        // Swept, it is dead; and as long as the copy is there, the horizon stays in front of the clear.
        replica.index().remove(positionOf("k"), copy);
        final int length = FrameDescriptor.length(FrameDescriptor.wordPlain(
                segments.region().buffer(copy), segments.region().offset(copy)));
        segments.markDead(copy, length);
        swept = true;
        assertThat(segments.tombstoneHorizon()).isLessThanOrEqualTo(numberOfTheOriginal);
    }

    private long positionOf(String key) {
        final byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        return replica.positionOf(HASH.hash(CACHE, bytes, 0, bytes.length));
    }

    @Test
    void shouldHoldTheHorizonWhileSomethingThatADeletionEndedIsThere() {
        final long original = oldSegmentWith("k");
        final int numberOfTheOriginal = segments.horizon(segments.segmentOf(original));
        write(EntryType.DELETE, "k", 0);
        write(EntryType.PUT, "later", 40_000);
        closeLog();
        assertThat(segments.tombstoneHorizon()).isEqualTo(numberOfTheOriginal);
        swept = true;
        assertThat(cleaner.cleanOne()).isTrue(); // the segment with the deleted object
        assertThat(segments.tombstoneHorizon()).isGreaterThan(numberOfTheOriginal);
    }
}
