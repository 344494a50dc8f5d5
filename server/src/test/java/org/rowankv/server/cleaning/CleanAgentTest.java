package org.rowankv.server.cleaning;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.log.EntryType;

/** When the cleaner reports that no more space can be freed. */
final class CleanAgentTest {
    private static final int CYCLES = 1_000;

    private final CleanedShard shard = new CleanedShard();

    @Test
    void shouldSayThatThereIsNoMoreOnlyWhenNoLogIsLeftToClose() {
        shard.write(EntryType.PUT, "k", 100);
        shard.closesIdleLog = true;
        shard.cleaner.requestSpace();
        shard.cleaner.doWork();
        // The segment of the log that it closed was not scanned yet.
        assertThat(shard.cleaner.isSpaceRequested()).isTrue();
        for (int cycle = 0; cycle < CYCLES && shard.cleaner.isSpaceRequested(); cycle++) {
            shard.cleaner.doWork();
        }
        assertThat(shard.cleaner.isSpaceRequested()).isFalse();
    }

    /** Another server may ask for what is not on all replicas, dead or not, by the address that is known of it. */
    @Test
    void shouldLeaveASegmentAloneThatATailRefersTo() {
        final long dead = shard.write(EntryType.PUT, "other", 20_000);
        final long version = shard.version();
        shard.write(EntryType.PUT, "k", 100);
        shard.write(EntryType.PUT, "other", 20_000);
        shard.closeLog();
        final int segment = shard.segments.segmentOf(dead);
        shard.replica.tail().copied(version, dead);
        assertThat(shard.cleaner.cleanOne()).isFalse();
        assertThat(shard.segments.isClosed(segment)).isTrue();

        shard.replica.tail().trim(version);
        assertThat(shard.cleaner.cleanOne()).isTrue();
        assertThat(shard.segments.isClosed(segment)).isFalse();
    }

    /** They may save a copy; room for what counts comes first. */
    @Test
    void shouldGiveUpTheOldestFormerSegmentWhenFreeOnesAreFew() {
        final int oldest = shard.segments.segmentOf(shard.write(EntryType.PUT, "k", 20_000));
        shard.closeLog();
        final int newer = shard.segments.segmentOf(shard.write(EntryType.PUT, "k", 20_000));
        shard.closeLog();
        shard.segments.former().keep(oldest);
        shard.segments.former().keep(newer);
        assertThat(shard.segments.former().newestFirst()).containsExactly(newer, oldest);
        assertThat(shard.cleaner.doWork()).isZero();
        assertThat(shard.cleaner.cleanOne()).isFalse();

        while (shard.segments.allocate(SegmentOwner.WORKER, 0) >= 0) {
            // Another log takes all.
        }
        assertThat(shard.cleaner.doWork()).isPositive();
        assertThat(shard.segments.former().newestFirst()).containsExactly(newer);
        assertThat(shard.segments.allocate(SegmentOwner.WORKER, 0)).isEqualTo(oldest);
        assertThat(shard.segments.former().isKept(oldest)).isFalse();
    }

    /** Nothing in them can appear again, so nothing must be known of its end. */
    @Test
    void shouldNotHoldTombstonesForFormerSegments() {
        final int former = shard.segments.segmentOf(shard.write(EntryType.PUT, "k", 20_000));
        shard.write(EntryType.PUT, "k", 20_000);
        shard.closeLog();
        assertThat(shard.segments.tombstoneHorizon()).isEqualTo(shard.segments.horizon(former));
        shard.write(EntryType.PUT, "other", 100);
        shard.segments.former().keep(former);
        assertThat(shard.segments.tombstoneHorizon()).isGreaterThan(shard.segments.horizon(former));
        assertThat(shard.segments.liveBytes(former, 0)).isZero();
        shard.segments.recountSpace();
        shard.segments.former().free(former);
        assertThat(shard.segments.isClosed(former)).isFalse();
    }
}
