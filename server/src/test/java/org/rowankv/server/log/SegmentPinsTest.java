package org.rowankv.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import org.junit.jupiter.api.Test;

final class SegmentPinsTest {
    private static final int COUNT = 8;

    private final SegmentPins pins = new SegmentPins(COUNT);

    @Test
    void shouldBeGivenUpWhenNothingComesBackAlthoughItIsNeeded() {
        pins.pinAll(0);
        pins.hold();
        pins.lacked(SegmentPins.BRIEF_PATIENCE_NS);
        assertThat(pins.isGivenUp()).isFalse();
        assertThat(pins.mayBeFreed(3)).isFalse();
        pins.lacked(SegmentPins.BRIEF_PATIENCE_NS + 1);
        assertThat(pins.isGivenUp()).isTrue();
        assertThat(pins.isPinned(3)).isFalse();
        assertThat(pins.mayBeFreed(3)).isTrue();
    }

    /** However long the whole read takes. */
    @Test
    void shouldNotBeGivenUpWhileSegmentsComeBack() {
        pins.pinAll(0);
        final BitSet chosen = new BitSet();
        chosen.set(2, COUNT);
        pins.keep(chosen, 0);
        assertThat(pins.isPinned(1)).isFalse();
        long nowNs = 0;
        for (int segment = 2; segment < COUNT - 1; segment++) {
            nowNs += SegmentPins.PATIENCE_NS;
            pins.lacked(nowNs);
            assertThat(pins.isGivenUp()).isFalse();
            pins.release(segment, nowNs);
            assertThat(pins.isPinned(segment)).isFalse();
        }
        assertThat(pins.count()).isEqualTo(1);
        pins.lacked(nowNs + SegmentPins.PATIENCE_NS + 1);
        assertThat(pins.isGivenUp()).isTrue();
    }

    @Test
    void shouldPinNothingOnceTheReaderIsDone() {
        pins.pinAll(0);
        pins.hold();
        pins.releaseAll();
        assertThat(pins.areAny()).isFalse();
        pins.pinAll(5); // by another one
        assertThat(pins.count()).isEqualTo(COUNT);
    }
}
