package org.rowankv.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RareFirstTest {
    @Test
    void shouldTakeEachSeedWithARareFaultThatItComesBy() {
        final RareFirst seeds = new RareFirst(
                0,
                seed -> RareFirst.traits(
                        List.of("usual"), seed % 40 == 3 ? List.of("CRASH", "ROT") : List.of("CRASH")));
        final long[] taken = LongStream.generate(seeds).limit(100).toArray();
        assertThat(LongStream.of(taken).filter(seed -> seed % 40 == 3)).hasSize(10);
    }

    @Test
    void shouldPreferAnOrderOfFaultsThatWasNotMet() {
        final RareFirst seeds = new RareFirst(
                0,
                seed -> RareFirst.traits(List.of(), seed % 4 == 2 ? List.of("ROT", "CRASH") : List.of("CRASH", "ROT")));
        assertThat(List.of(seeds.getAsLong(), seeds.getAsLong())).containsExactly(0L, 6L);
    }

    @Test
    void shouldTakeTheSameSeedsForTheSamePlans() {
        final RareFirst one = new RareFirst(500, RareFirstTest::traits);
        final RareFirst other = new RareFirst(500, RareFirstTest::traits);
        final long[] taken = LongStream.generate(one).limit(50).toArray();
        assertThat(LongStream.generate(other).limit(50).toArray()).containsExactly(taken);
        assertThat(taken).isSorted().doesNotHaveDuplicates();
    }

    private static List<String> traits(long seed) {
        return RareFirst.traits(
                List.of("property " + seed % 3), List.of("fault " + seed % 7, "fault " + seed * seed % 11));
    }

    @Test
    void shouldTakeGivenSeedsOneByOne() {
        assertThat(LongStream.generate(RareFirst.oneByOne(7)).limit(3).toArray())
                .containsExactly(7, 8, 9);
    }
}
