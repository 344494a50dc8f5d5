package org.rowankv.server.durability;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ForceRangesTest {
    private static final int BYTES = 60_000;

    private final ForceRanges ranges = new ForceRanges();

    /** Sparse ranges, so that they are too many, and dense ones that touch, overlap and nest. */
    @Test
    void shouldCoverAllThatWasAdded() {
        for (int seed = 0; seed < 40; seed++) {
            final Random random = new Random(seed);
            final BitSet added = new BitSet();
            ranges.clear();
            for (int i = 0; i < 400; i++) {
                final int length = 1 + random.nextInt(seed % 2 == 0 ? 20 : 2_000);
                final int address = random.nextInt(BYTES - length);
                ranges.add(address, length);
                added.set(address, address + length);
                final BitSet left = (BitSet) added.clone();
                left.andNot(covered());
                assertThat(left.isEmpty()).as("seed %d, range %d", seed, i).isTrue();
            }
        }
    }

    private BitSet covered() {
        final BitSet covered = new BitSet();
        for (int i = 0; i < ranges.count(); i++) {
            covered.set((int) ranges.start(i), (int) ranges.end(i));
        }
        return covered;
    }

    @Test
    void shouldKeepWhatLiesApartApartWhileItIsNotTooMuch() {
        ranges.add(0, 64);
        ranges.add(128, 64);
        assertThat(ranges.count()).isEqualTo(2);
        ranges.add(64, 64);
        assertThat(ranges.start(0)).isLessThanOrEqualTo(64);
        for (int i = 0; i < 1_000; i++) {
            ranges.add(1_000 + 1_000L * i, 10);
        }
        assertThat(ranges.count()).isLessThanOrEqualTo(256);
    }
}
