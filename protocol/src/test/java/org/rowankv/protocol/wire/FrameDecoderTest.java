package org.rowankv.protocol.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.BufferAccounting;
import org.rowankv.protocol.frame.FrameDecoder;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.FrameLimits;
import org.rowankv.protocol.frame.FrameMemory;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;

/** Decoded frames equal the encoded ones, wherever the stream was split and whichever were deferred; faults are reported. */
final class FrameDecoderTest {
    private static final int MAX_FRAME = 4 << 10;

    private static FrameDecoder cutter(FrameLimits limits) {
        return new FrameDecoder(WirePort.CLIENTS, limits, FrameMemory.onHeap(BufferAccounting.UNCOUNTED));
    }

    private static byte[] bytes(FrameEncoder out) {
        final ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            out.writeTo(Channels.newChannel(all));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return all.toByteArray();
    }

    private static ByteBuffer buffer(byte[] bytes, int from, int to) {
        return ByteBuffer.wrap(bytes, from, to - from).slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    @Property(tries = 300)
    void shouldFindTheFramesWhereverTheyAreCut(
            @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 20) int count,
            @ForAll @IntRange(min = 1, max = 3_000) int longest,
            @ForAll @IntRange(min = 0, max = 5) int refusesEvery)
            throws WireException {
        final Random random = new Random(seed);
        final FrameEncoder out = new FrameEncoder(64);
        final List<byte[]> bodies = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            final byte[] body = new byte[random.nextInt(2_000)];
            random.nextBytes(body);
            bodies.add(body);
            BytesFrame.write(out, ClientFrameDescriptor.ROUTING, i, body);
        }
        final byte[] stream = bytes(out);
        final FrameDecoder cutter = cutter(type -> MAX_FRAME);
        final List<byte[]> found = new ArrayList<>();
        final int[] offered = {0};
        final FrameDecoder.Taker taker = (buffer, at, length) -> {
            if (refusesEvery > 1 && ++offered[0] % refusesEvery == 0) {
                return false;
            }
            assertThat(FrameHeadDescriptor.number(buffer, at)).isEqualTo(found.size());
            found.add(BytesFrame.body(buffer, at, length));
            return true;
        };
        int at = 0;
        while (at < stream.length) {
            final int to = Math.min(stream.length, at + 1 + random.nextInt(longest));
            cutter.take(buffer(stream, at, to), taker);
            while (cutter.isBlocked() && random.nextBoolean()) {
                cutter.resume(taker);
            }
            at = to;
        }
        while (cutter.isBlocked()) {
            cutter.resume(taker);
        }
        assertThat(cutter.heldBytes()).isZero();
        assertThat(found).usingElementComparator(java.util.Arrays::compare).isEqualTo(bodies);
    }

    /** Each type has a limit of its own: a frame of that length is taken, in one piece or in many, and a longer one is refused. */
    @Property(tries = 200)
    void shouldTakeFramesOfExactlyTheLongestLength(
            @ForAll @IntRange(min = 1, max = 10) int type,
            @ForAll @IntRange(min = FrameHeadDescriptor.HEAD_LENGTH, max = 300) int longest,
            @ForAll @IntRange(min = 1, max = 300) int piece)
            throws WireException {
        final FrameLimits limits = of -> of == type ? longest : longest / 2;
        final byte[] body = new byte[longest - FrameHeadDescriptor.HEAD_LENGTH];
        final FrameEncoder out = new FrameEncoder(64);
        BytesFrame.write(out, type, 5, body);
        final byte[] stream = bytes(out);
        assertThat(stream).hasSize(longest);
        final FrameDecoder cutter = cutter(limits);
        final List<Integer> found = new ArrayList<>();
        for (int at = 0; at < stream.length; at += piece) {
            cutter.take(buffer(stream, at, Math.min(stream.length, at + piece)), (buffer, from, length) -> {
                found.add(length);
                return true;
            });
        }
        assertThat(found).containsExactly(longest);
        BytesFrame.write(out, type, 6, new byte[body.length + 1]);
        final byte[] longer = bytes(out);
        assertThatThrownBy(() -> cutter.take(buffer(longer, 0, longer.length), (buffer, from, length) -> true))
                .isInstanceOfSatisfying(
                        WireException.class, e -> assertThat(e.fault()).isEqualTo(WireFault.BAD_LENGTH));
    }

    @Example
    void shouldRefuseLengthsBeforeAnythingIsAllocatedAndWrongChecksums() {
        for (int length : new int[] {-1, 0, FrameHeadDescriptor.HEAD_LENGTH - 1, MAX_FRAME + 1, Integer.MAX_VALUE}) {
            final ByteBuffer bytes =
                    ByteBuffer.allocate(FrameHeadDescriptor.HEAD_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putInt(FrameHeadDescriptor.LENGTH_OFFSET, length);
            assertFault(bytes, WireFault.BAD_LENGTH);
        }
        final FrameEncoder out = new FrameEncoder(64);
        BytesFrame.write(out, ClientFrameDescriptor.ROUTING, 7, new byte[100]);
        final byte[] stream = bytes(out);
        for (int i = 0; i < stream.length; i++) {
            if (i < FrameHeadDescriptor.LENGTH_OFFSET || i >= FrameHeadDescriptor.TYPE_OFFSET) {
                final byte[] changed = stream.clone();
                changed[i] ^= 4;
                assertFault(buffer(changed, 0, changed.length), WireFault.BAD_CHECKSUM);
            }
        }
    }

    private static void assertFault(ByteBuffer bytes, WireFault fault) {
        final FrameDecoder cutter = cutter(type -> MAX_FRAME);
        assertThatThrownBy(() -> cutter.take(bytes, (buffer, at, length) -> true))
                .isInstanceOfSatisfying(
                        WireException.class, e -> assertThat(e.fault()).isEqualTo(fault));
    }

    @Property(tries = 200)
    void shouldReadRequestsAndAnswersAsTheyWereWritten(
            @ForAll byte[] key, @ForAll byte[] value, @ForAll long version, @ForAll @IntRange(min = 1) int sequence)
            throws WireException {
        final FrameEncoder out = new FrameEncoder(64);
        final Request written = new Request()
                .put(3, key, 0, key.length, value, 0, value.length)
                .when(Condition.IF_VERSION, version)
                .ttl(5, 6)
                .accessTtl(7)
                .requestValue(true);
        written.placed(99, 11);
        written.identified(version | 1, sequence, 0);
        RequestDescriptor.write(out, written, 42, 8);
        assertThat(out.pending())
                .as("what is compared with a server's limit")
                .isEqualTo(RequestDescriptor.lengthOf(written));
        final Request read = new Request();
        final byte[] stream = bytes(out);
        cutter(type -> 1 << 20).take(buffer(stream, 0, stream.length), (buffer, at, length) -> {
            final byte[] body = new byte[RequestDescriptor.bodyLength(buffer, at, length)];
            assertThat(RequestDescriptor.read(buffer, at, read, body)).isTrue();
            assertThat(RequestDescriptor.shard(buffer, at)).isEqualTo(11);
            assertThat(RequestDescriptor.term(buffer, at)).isEqualTo(8);
            return true;
        });
        assertThat(read.operation()).isEqualTo(written.operation());
        assertThat(java.util.Arrays.copyOfRange(read.key(), read.keyOffset(), read.keyOffset() + read.keyLength()))
                .isEqualTo(key);
        assertThat(java.util.Arrays.copyOfRange(
                        read.value(), read.valueOffset(), read.valueOffset() + read.valueLength()))
                .isEqualTo(value);
        assertThat(read.expectedVersion()).isEqualTo(version);
        assertThat(read.sessionId()).isEqualTo(version | 1);
        assertThat(read.sequence()).isEqualTo(sequence);
        assertThat(read.createTtlMs()).isEqualTo(5);
        assertThat(read.updateTtlMs()).isEqualTo(6);
        assertThat(read.accessTtlMs()).isEqualTo(7);
        assertThat(read.needsValue()).isTrue();

        written.answer(Status.CONDITION_FAILED, 9, version, 4);
        System.arraycopy(value, 0, written.resultOf(value.length), 0, value.length);
        ResponseDescriptor.write(out, written, 43);
        final byte[] answer = bytes(out);
        cutter(type -> 1 << 20).take(buffer(answer, 0, answer.length), (buffer, at, length) -> {
            ResponseDescriptor.check(buffer, at, length);
            ResponseDescriptor.read(buffer, at, length, read);
            return true;
        });
        assertThat(read.status()).isEqualTo(Status.CONDITION_FAILED);
        assertThat(read.bits()).isEqualTo(9);
        assertThat(read.version()).isEqualTo(version);
        assertThat(read.previousVersion()).isEqualTo(4);
        assertThat(read.resultBytes()).isEqualTo(value);
    }
}
