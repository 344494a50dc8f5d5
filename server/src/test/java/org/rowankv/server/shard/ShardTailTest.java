package org.rowankv.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.Segments;

final class ShardTailTest {
    private static final int SEGMENT = 64 << 10;

    private final Area area = Area.create(
            new AreaSettings(null, 1 << 20, SEGMENT, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1));
    private final Segments segments = new Segments(area, new SplittableRandomSource(2), 0, 1 << 20);
    private final ShardTail tail = new ShardTail(segments);

    private long address(int number) {
        return area.addressOf(0) + 64L * number;
    }

    @Test
    void shouldListWhatIsAboveCommitVerInOrderAndOnce() {
        tail.landed(7, address(1));
        tail.landed(5, address(2));
        tail.copied(6, address(3));
        tail.landed(7, address(4));
        assertThat(tail.versionsAbove(0)).containsExactly(5, 6, 7);
        assertThat(tail.versionsAbove(5)).containsExactly(6, 7);
        assertThat(tail.versionsAbove(7)).isEmpty();
        assertThat(tail.addressOf(7)).isEqualTo(address(1));
        assertThat(tail.addressOf(6)).isEqualTo(address(3));
        assertThat(tail.contains(4)).isFalse();
    }

    @Test
    void shouldKeepWhatCommitVerHasNotPassed() {
        for (int version = 1; version <= 10; version++) {
            tail.landed(version, address(version));
        }
        tail.trim(0);
        assertThat(tail.size()).isEqualTo(10);
        tail.trim(4);
        assertThat(tail.versionsAbove(0)).containsExactly(5, 6, 7, 8, 9, 10);
        assertThat(tail.addressOf(4)).isZero();
        tail.trim(3);
        assertThat(tail.size()).isEqualTo(6);
        tail.trim(10);
        assertThat(tail.size()).isZero();
    }

    /** The cleaner may take the segment as soon as nothing in it is asked for. */
    @Test
    void shouldHoldTheSegmentsOfCopies() {
        tail.landed(1, area.addressOf(0));
        tail.copied(2, area.addressOf(1));
        tail.copied(3, area.addressOf(1) + 64);
        tail.copied(4, area.addressOf(2));
        assertThat(segments.holds().isHeld(0)).isFalse();
        tail.trim(2);
        assertThat(segments.holds().isHeld(1)).isTrue();
        tail.trim(3);
        assertThat(segments.holds().isHeld(1)).isFalse();
        assertThat(segments.holds().isHeld(2)).isTrue();
        assertThat(segments.holds().areAny()).isTrue();
        tail.trim(4);
        assertThat(segments.holds().areAny()).isFalse();
    }

    @Test
    void shouldHoldWhatASortedMapHolds() {
        final Random random = new Random(5);
        final SortedMap<Long, Long> model = new TreeMap<>();
        long next = 1;
        long committed = 0;
        for (int i = 0; i < 20_000; i++) {
            if (random.nextInt(5) > 0) {
                final long version = next + random.nextInt(20) * 1_000L;
                final long address = address(random.nextInt(1_000));
                if (!model.containsKey(version) && version > committed) {
                    model.put(version, address);
                    if (random.nextBoolean()) {
                        tail.landed(version, address);
                    } else {
                        tail.copied(version, address);
                    }
                }
                next++;
            } else {
                committed += random.nextInt(10);
                tail.trim(committed);
                model.headMap(committed + 1).clear();
            }
            assertThat(tail.size()).isEqualTo(model.size());
        }
        assertThat(tail.versionsAbove(0))
                .isEqualTo(model.keySet().stream().mapToLong(each -> each).toArray());
        model.forEach((version, address) -> assertThat(tail.addressOf(version)).isEqualTo(address));
    }

    /** A version that is missing for long makes it grow; afterwards the memory is given back. */
    @Test
    void shouldAllocateNothingInTheSteadyState() {
        for (int version = 1; version <= 100_000; version++) {
            tail.landed(version, address(1));
        }
        tail.trim(100_000);
        turn(100_000, 100_000);
        final var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        final long before = threads.getCurrentThreadAllocatedBytes();
        turn(200_000, 100_000);
        final long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(allocated).isLessThan(10_000);
    }

    private void turn(int first, int count) {
        for (int version = first + 1; version <= first + count; version++) {
            tail.landed(version, address(1));
            if (version % 50 == 0) {
                tail.trim(version - 20);
            }
        }
    }
}
