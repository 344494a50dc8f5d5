package org.rowankv.rdma.rowan;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.RandomSource;

/** The frame's layout, and the life of its word. */
final class FrameDescriptorTest {
    private static final int GENERATION = 0x8765_4321;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(4096).order(ByteOrder.LITTLE_ENDIAN);
    private final FrameSealer sealer = new FrameSealer();

    @Test
    void shouldLayOutItsFieldsWithoutGapOrOverlap() {
        assertThat(FrameDescriptor.WORD_OFFSET).isZero();
        assertThat(FrameDescriptor.PLACEMENT_CRC_OFFSET).isEqualTo(8);
        assertThat(FrameDescriptor.BODY_CRC_OFFSET).isEqualTo(12);
        assertThat(FrameDescriptor.TAG_OFFSET).isEqualTo(16);
        assertThat(FrameDescriptor.STAMP_OFFSET).isEqualTo(20);
        assertThat(FrameDescriptor.HEADER_LENGTH).isEqualTo(24).isLessThan(FrameDescriptor.STRIDE);
        assertThat(FrameDescriptor.STRIDE % Long.BYTES)
                .as("the word is aligned")
                .isZero();
    }

    @Test
    void shouldStoreItsFieldsAtTheDeclaredOffsets() {
        sealer.publishOwned(buffer, 64, 1064, GENERATION, 100, 9, 0x11111111, 0x22222222, 0x33333333);
        assertThat(buffer.getLong(64)).isEqualTo(0x0009_0001_8765_4321L);
        assertThat(buffer.getInt(64 + 12)).isEqualTo(0x11111111);
        assertThat(buffer.getInt(64 + 16)).isEqualTo(0x22222222);
        assertThat(buffer.getInt(64 + 20)).isEqualTo(0x33333333);
        final ByteBuffer covered = ByteBuffer.allocate(28).order(ByteOrder.LITTLE_ENDIAN);
        covered.putLong(1064).putLong(buffer.getLong(64)).putInt(0x11111111).putInt(0x22222222);
        final CRC32C crc = new CRC32C();
        crc.update(covered.putInt(0x33333333).flip());
        assertThat(buffer.getInt(64 + 8)).isEqualTo((int) crc.getValue());
    }

    @Test
    void shouldWriteOffAFrameAndKeepItsOtherFields() {
        sealer.publishOwned(buffer, 64, 1064, GENERATION, 100, 9, 0x11111111, 0x22222222, 0x33333333);
        final long word = FrameDescriptor.wordPlain(buffer, 64);
        assertThat(FrameDescriptor.isWrittenOff(buffer, 64, 1064, sealer.checksum()))
                .isFalse();
        FrameDescriptor.writeOff(buffer, 64, 1064, sealer.checksum());
        assertThat(FrameDescriptor.isWrittenOff(buffer, 64, 1064, sealer.checksum()))
                .isTrue();
        assertThat(FrameDescriptor.isWrittenOff(buffer, 64, 1128, sealer.checksum()))
                .isFalse();
        assertThat(FrameDescriptor.whyInvalid(buffer, 64, buffer.capacity(), 1064, GENERATION, sealer.checksum()))
                .contains("placement crc");
        assertThat(FrameDescriptor.wordPlain(buffer, 64)).isEqualTo(word);
        assertThat(FrameDescriptor.bodyCrc(buffer, 64)).isEqualTo(0x11111111);
        assertThat(FrameDescriptor.tag(buffer, 64)).isEqualTo(0x22222222);
        assertThat(FrameDescriptor.stamp(buffer, 64)).isEqualTo(0x33333333);
    }

    @Test
    void shouldDecodeWhatTheWordWasMadeOf() {
        for (final int generation : new int[] {1, -1, GENERATION, Integer.MIN_VALUE}) {
            for (final int strides : new int[] {1, 2, 4095, FrameDescriptor.MAX_STRIDES}) {
                for (final int type : new int[] {1, 250, FrameDescriptor.RESERVED, FrameDescriptor.VOID}) {
                    final long word = FrameDescriptor.word(generation, strides, type);
                    assertThat(FrameDescriptor.generation(word)).isEqualTo(generation);
                    assertThat(FrameDescriptor.strides(word)).isEqualTo(strides);
                    assertThat(FrameDescriptor.length(word)).isEqualTo(strides * 64);
                    assertThat(FrameDescriptor.type(word)).isEqualTo(type);
                    assertThat(word >>> 56).isZero();
                }
            }
        }
    }

    @Test
    void shouldComputeTheBodyCrcAsTheJdkDoes() {
        for (int at = 0; at < buffer.capacity(); at++) {
            buffer.put(at, (byte) (at * 31));
        }
        for (final int length : new int[] {0, 1, 7, 2047, 2048, 2049, 4000}) {
            final CRC32C crc = new CRC32C();
            crc.update(buffer.slice(3, length));
            assertThat(sealer.checksum().body(buffer, 3, length)).isEqualTo((int) crc.getValue());
        }
    }

    @Test
    void shouldGoFromOldBytesOverReservedToPublished() {
        buffer.putLong(0, 0xDEAD_BEEF_DEAD_BEEFL);
        assertThat(FrameDescriptor.reserve(buffer, 0, 0, GENERATION, 2)).isTrue();
        assertThat(FrameDescriptor.reserve(buffer, 0, 0, GENERATION, 2))
                .as("helped, or helping")
                .isTrue();
        assertThat(whyInvalid(0)).contains("reserved");
        assertThat(sealer.publish(buffer, 0, 0, GENERATION, 128, 3, 0, 1, 0)).isTrue();
        assertThat(whyInvalid(0)).isNull();
        assertThat(FrameDescriptor.reserve(buffer, 0, 0, GENERATION, 2)).isFalse();
        assertThat(FrameDescriptor.makeVoid(buffer, 0, GENERATION)).isFalse();
        assertThat(sealer.publish(buffer, 0, 0, GENERATION, 128, 3, 0, 1, 0)).isFalse();
        assertThat(whyInvalid(0)).isNull();
    }

    @Test
    void shouldNotReserveAgainWhatWasPublishedBeforeABitFlipped() {
        assertThat(FrameDescriptor.reserve(buffer, 0, 0, GENERATION, 2)).isTrue();
        assertThat(sealer.publish(buffer, 0, 0, GENERATION, 128, 3, 0, 1, 0)).isTrue();
        final long published = FrameDescriptor.wordPlain(buffer, 0);
        for (int bit = 0; bit < Long.SIZE; bit++) {
            buffer.putLong(0, published ^ 1L << bit);
            assertThat(FrameDescriptor.reserve(buffer, 0, 0, GENERATION, 2)).isFalse();
            assertThat(FrameDescriptor.wordPlain(buffer, 0)).isEqualTo(published ^ 1L << bit);
        }
    }

    @Test
    void shouldReserveOverAnEntryWhoseGenerationDiffersInOneBit() {
        sealer.publishOwned(buffer, 0, 0, GENERATION ^ 16, 128, 3, 0, 1, 0);
        assertThat(FrameDescriptor.reserve(buffer, 0, 0, GENERATION, 2)).isTrue();
        assertThat(whyInvalid(0)).contains("reserved");
    }

    @Test
    void shouldNotPublishWhatWasVoided() {
        assertThat(FrameDescriptor.makeVoid(buffer, 0, GENERATION))
                .as("nothing is reserved")
                .isFalse();
        FrameDescriptor.reserve(buffer, 0, 0, GENERATION, 2);
        assertThat(FrameDescriptor.makeVoid(buffer, 0, GENERATION + 1))
                .as("of another use")
                .isFalse();
        assertThat(FrameDescriptor.makeVoid(buffer, 0, GENERATION)).isTrue();
        assertThat(FrameDescriptor.length(FrameDescriptor.wordAcquire(buffer, 0)))
                .isEqualTo(128);
        assertThat(sealer.publish(buffer, 0, 0, GENERATION, 128, 3, 0, 1, 0)).isFalse();
        assertThat(FrameDescriptor.reserve(buffer, 0, 0, GENERATION, 2)).isFalse();
        assertThat(whyInvalid(0)).contains("void");
    }

    @Test
    void shouldDrawNoGenerationThatStandsInTheOldBytes() {
        buffer.putInt(1024 + 512, 7);
        buffer.putInt(1024 + 1024 - 64, 8);
        assertThat(new GenerationSource(numbers(0, 7, 8, 9)).draw(buffer, 1024, 1024))
                .isEqualTo(9);
        assertThat(GenerationSource.occurs(buffer, 0, 1024, 7)).isFalse();
        assertThat(GenerationSource.occurs(buffer, 1024, 1024, 7)).isTrue();
    }

    @Test
    void shouldDrawAGenerationThatIsNoneOfTheLast255() {
        buffer.putInt(1024 + 64, 256 | 6);
        buffer.putInt(1024 + 128, 256 | 1);
        final GenerationSource source = new GenerationSource(numbers(256, 512, 768, 1024));
        assertThat(source.drawAfter(5, buffer, 1024, 1024))
                .as("the first occurs")
                .isEqualTo(512 | 6);
        assertThat(source.drawAfter(-1, buffer, 1024, 1024)).isEqualTo(768);
        assertThat(source.drawAfter(0, buffer, 1024, 1024)).isEqualTo(1024 | 1);
        assertThat(new GenerationSource(numbers(0, 256)).drawAfter(255, buffer, 1024, 1024))
                .as("0 is none")
                .isEqualTo(256);
        assertThat(new GenerationSource(numbers(256)).drawAfter(0, buffer, 1024, 1024))
                .as("never used, so it is not read")
                .isEqualTo(256 | 1);
    }

    /** Yields these numbers, one after the other. */
    private static RandomSource numbers(long... numbers) {
        return new RandomSource() {
            private int next;

            @Override
            public long nextLong() {
                return numbers[next++];
            }

            @Override
            public int nextInt(int bound) {
                throw new UnsupportedOperationException();
            }

            @Override
            public RandomSource fork(String name) {
                throw new UnsupportedOperationException();
            }
        };
    }

    private String whyInvalid(int offset) {
        return FrameDescriptor.whyInvalid(buffer, offset, 4096, offset, GENERATION, sealer.checksum());
    }
}
