package org.rowankv.server.area;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rowankv.server.durability.Durability;

class AreaSettingsTest {
    @Test
    void shouldShrinkSegmentsWithTheCapacity() {
        assertThat(AreaSettings.segmentLengthFor(64L << 30)).isEqualTo(4 << 20);
        assertThat(AreaSettings.segmentLengthFor(256L << 20)).isEqualTo(4 << 20);
        assertThat(AreaSettings.segmentLengthFor(64L << 20)).isEqualTo(1 << 20);
        assertThat(AreaSettings.segmentLengthFor(4L << 20)).isEqualTo(64 << 10);
        assertThat(AreaSettings.segmentLengthFor(1)).isEqualTo(64 << 10);
        for (long capacity = 4L << 20; capacity < 1L << 40; capacity = capacity * 5 / 4) {
            final int length = AreaSettings.segmentLengthFor(capacity);
            assertThat(Integer.bitCount(length)).isEqualTo(1);
            assertThat(capacity / length).isGreaterThanOrEqualTo(64);
        }
    }

    @Test
    void shouldRefuseMoreSegmentsThanAnAddressCanName() {
        final int segment = AreaSettings.MIN_SEGMENT_LENGTH;
        final long most = (long) segment << 22;
        assertThat(new AreaSettings(null, most, segment, 0, 1, 1, Durability.NONE).segmentCount())
                .isEqualTo(1 << 22);
        assertThatThrownBy(() -> new AreaSettings(null, most + segment, segment, 0, 1, 1, Durability.NONE))
                .hasMessageContaining("use longer segments");
    }

    @Test
    void shouldNeverLetASegmentCrossAChunk() {
        final Random random = new Random(4);
        for (int round = 0; round < 2000; round++) {
            final int segmentLength = AreaSettings.MIN_SEGMENT_LENGTH << random.nextInt(7);
            final int segments = 1 + random.nextInt(2000);
            final int shards = 1 + random.nextInt(4096);
            final long base = AreaDescriptor.segmentBase(shards, segments, segmentLength);
            assertThat(base % segmentLength).isZero();
            assertThat(base)
                    .isGreaterThanOrEqualTo(
                            AreaDescriptor.segmentMetaOffset(shards) + (long) segments * SegmentMetaDescriptor.LENGTH);
            assertThat((1L << AreaDescriptor.MAX_CHUNK_SHIFT) % segmentLength).isZero();
            assertThat(AreaDescriptor.fileLength(shards, segments, segmentLength))
                    .isEqualTo(base + (long) segments * segmentLength);
        }
    }

    @Test
    void shouldRefuseWhatDoesNotFitTogether() {
        final Path file = Path.of("area");
        assertThatThrownBy(() -> new AreaSettings(file, 1 << 20, 100_000, 0, 1, 8, Durability.PROCESS))
                .hasMessageContaining("power of two");
        assertThatThrownBy(() -> new AreaSettings(file, 1 << 20, 8 << 20, 0, 1, 8, Durability.PROCESS))
                .hasMessageContaining("power of two");
        assertThatThrownBy(() -> new AreaSettings(file, 1 << 10, 1 << 16, 0, 1, 8, Durability.PROCESS))
                .hasMessageContaining("less than one segment");
        assertThatThrownBy(() -> new AreaSettings(file, 1L << 50, 1 << 16, 0, 1, 8, Durability.PROCESS))
                .hasMessageContaining("longer segments");
        assertThatThrownBy(() -> new AreaSettings(null, 1 << 20, 1 << 16, 0, 1, 8, Durability.PROCESS))
                .hasMessageContaining("dir=");
        assertThatThrownBy(() -> new AreaSettings(file, 1 << 20, 1 << 16, 0, 1, 8, Durability.NONE))
                .hasMessageContaining("durability=process");
    }
}
