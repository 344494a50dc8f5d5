package org.rowankv.rdma.rowan;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

/** Every fault of a frame or its address is reported. */
@net.jqwik.api.Tag("jvm")
final class FramePropertyTest {
    private static final int CAPACITY = 1 << 14;
    private static final int OFFSET = 1024;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(CAPACITY).order(ByteOrder.LITTLE_ENDIAN);
    private final FrameSealer sealer = new FrameSealer();

    private record Sealed(long address, int generation, int length) {}

    private Sealed seal(long seed, int bodyLength, int type) {
        final Random random = new Random(seed);
        final byte[] bytes = new byte[CAPACITY];
        random.nextBytes(bytes);
        buffer.put(0, bytes);
        final int generation = random.nextInt() | 1;
        final long address = (random.nextLong() >>> 17) & -64L;
        final int length = FrameDescriptor.HEADER_LENGTH + bodyLength;
        final int crc = sealer.checksum().body(buffer, OFFSET + FrameDescriptor.HEADER_LENGTH, bodyLength);
        sealer.publishOwned(buffer, OFFSET, address, generation, length, type, crc, random.nextInt(), random.nextInt());
        return new Sealed(address, generation, length);
    }

    private String whyInvalid(int limit, long address, int generation) {
        return FrameDescriptor.whyInvalid(buffer, OFFSET, limit, address, generation, sealer.checksum());
    }

    private String whyBodyInvalid(int bodyLength) {
        return FrameDescriptor.whyBodyInvalid(buffer, OFFSET, bodyLength, sealer.checksum());
    }

    @Property(tries = 500)
    void shouldAcceptWhatWasSealed(
            @ForAll long seed, @ForAll @IntRange(max = 8000) int body, @ForAll @IntRange(min = 1, max = 250) int type) {
        final Sealed sealed = seal(seed, body, type);
        assertThat(whyInvalid(CAPACITY, sealed.address, sealed.generation)).isNull();
        assertThat(whyBodyInvalid(body)).isNull();
    }

    @Property(tries = 20)
    void shouldRejectAnyFlippedBitOfTheFrame(@ForAll long seed, @ForAll @IntRange(max = 500) int body) {
        final Sealed sealed = seal(seed, body, 1 + (int) (seed & 127));
        for (int bit = 0; bit < FrameDescriptor.HEADER_LENGTH * 8; bit++) {
            flip(bit);
            assertThat(whyInvalid(CAPACITY, sealed.address, sealed.generation))
                    .as("bit %s", bit)
                    .isNotNull();
            flip(bit);
        }
        assertThat(whyInvalid(CAPACITY, sealed.address, sealed.generation)).isNull();
    }

    @Property(tries = 200)
    void shouldRejectAnyFlippedBitOfTheBody(
            @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 3000) int body,
            @ForAll @IntRange(max = 1 << 20) int n) {
        seal(seed, body, 1);
        flip(FrameDescriptor.HEADER_LENGTH * 8 + n % (body * 8));
        assertThat(whyBodyInvalid(body)).isNotNull();
    }

    @Property(tries = 500)
    void shouldRejectAnotherGeneration(@ForAll long seed, @ForAll int other) {
        final Sealed sealed = seal(seed, 40, 1);
        Assume.that(other != sealed.generation);
        assertThat(whyInvalid(CAPACITY, sealed.address, other)).isNotNull();
    }

    @Property(tries = 500)
    void shouldRejectACopyAtAnotherAddress(@ForAll long seed, @ForAll @LongRange(min = 0, max = 1L << 48) long other) {
        final Sealed sealed = seal(seed, 40, 1);
        Assume.that(other != sealed.address);
        assertThat(whyInvalid(CAPACITY, other, sealed.generation)).isNotNull();
    }

    @Property(tries = 500)
    void shouldRejectAnyTruncation(
            @ForAll long seed, @ForAll @IntRange(max = 8000) int body, @ForAll @IntRange(max = 9000) int kept) {
        final Sealed sealed = seal(seed, body, 1);
        final int frame = FrameDescriptor.stridesOf(sealed.length) * FrameDescriptor.STRIDE;
        Assume.that(kept < frame);
        assertThat(whyInvalid(OFFSET + kept, sealed.address, sealed.generation)).isNotNull();
    }

    @Property(tries = 500)
    void shouldNeverMistakeRandomBytesForAFrame(@ForAll long seed, @ForAll int generation) {
        final byte[] bytes = new byte[64];
        new Random(seed).nextBytes(bytes);
        buffer.put(OFFSET, bytes);
        // Even with the right generation, as a correct guess would have it.
        buffer.putInt(OFFSET, generation);
        assertThat(whyInvalid(CAPACITY, 4096, generation)).isNotNull();
    }

    private void flip(int bit) {
        final int at = OFFSET + bit / 8;
        buffer.put(at, (byte) (buffer.get(at) ^ 1 << (bit % 8)));
    }
}
