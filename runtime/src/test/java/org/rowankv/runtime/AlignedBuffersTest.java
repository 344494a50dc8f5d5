package org.rowankv.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class AlignedBuffersTest {
    /** Small ones too: the system puts some of them at a multiple, and most elsewhere. */
    @Test
    void shouldHaveThatLengthWhereverTheMemoryIs() {
        final List<ByteBuffer> kept = new ArrayList<>();
        for (int length = 1; length <= 2000; length++) {
            final ByteBuffer buffer = AlignedBuffers.allocate(length, 64);
            kept.add(buffer);
            assertThat(buffer.capacity()).isEqualTo(length);
            assertThat(buffer.alignmentOffset(0, 64)).isZero();
            assertThat(buffer.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
        }
        assertThat(kept).hasSize(2000);
    }
}
