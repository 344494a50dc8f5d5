package org.rowankv.rdma.landing.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.HandshakeInput;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.rdma.landing.RawPeer;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.runtime.FaultLog;
import org.rowankv.runtime.SystemClock;

/**
 * Decoders of a peer's bytes, on any bytes: they find the frames wherever the bytes were split, throw only the protocol's
 * own error for anything else, and hold no more memory than bytes received.
 */
final class WireFuzzTest {
    private static final int MAX_PAYLOAD = 300;

    /** Keeps the frames it receives, and defers some of them at first. */
    private static final class Keeping extends FrameReader {
        private final List<byte[]> frames = new ArrayList<>();
        private final int refusesEvery;
        private int offered;
        private int ends;

        Keeping(FaultLog<WireFault> faults, int refusesEvery) {
            super(faults, SystemClock.INSTANCE);
            this.refusesEvery = refusesEvery;
        }

        @Override
        public int longest(int type) {
            return type == 0 || type > 20 ? -1 : PeerFrameDescriptor.HEAD_LENGTH + MAX_PAYLOAD;
        }

        @Override
        protected boolean onFrame(ByteBuffer buffer, int at, int length) {
            offered++;
            if (refusesEvery > 0 && offered % refusesEvery == 0) {
                return false;
            }
            final byte[] frame = new byte[length];
            buffer.get(at, frame);
            frames.add(frame);
            return true;
        }

        @Override
        protected void onBatchEnd() {
            // Nothing to answer.
        }

        @Override
        protected String describe() {
            return "a peer";
        }

        @Override
        protected void onEnd() {
            ends++;
        }
    }

    private static long faults(FaultLog<WireFault> log) {
        long sum = 0;
        for (final WireFault fault : WireFault.values()) {
            sum += log.count(fault);
        }
        return sum;
    }

    private static byte[] frame(int type, int payload, long seed) {
        final Random random = new Random(seed);
        final byte[] bytes = new byte[payload];
        final int small = random.nextInt();
        final long number = random.nextLong();
        final long first = random.nextLong();
        random.nextBytes(bytes);
        return RawPeer.frame(type, 0, small, number, first, 1, bytes);
    }

    @Provide
    Arbitrary<List<byte[]>> frames() {
        return Combinators.combine(
                        Arbitraries.integers().between(1, 20),
                        Arbitraries.integers().between(0, MAX_PAYLOAD),
                        Arbitraries.longs())
                .as(WireFuzzTest::frame)
                .list()
                .ofMinSize(1)
                .ofMaxSize(12);
    }

    private static byte[] joined(List<byte[]> frames) {
        final ByteArrayOutputStream all = new ByteArrayOutputStream();
        frames.forEach(all::writeBytes);
        return all.toByteArray();
    }

    private static EmbeddedChannel feed(Keeping reader, byte[] bytes, Random cuts, int longest) {
        final EmbeddedChannel channel = new EmbeddedChannel(reader);
        int at = 0;
        while (at < bytes.length && channel.isOpen()) {
            final int size = Math.min(bytes.length - at, 1 + cuts.nextInt(longest));
            final ByteBuf part = channel.alloc().directBuffer(size).writeBytes(bytes, at, size);
            channel.writeInbound(part);
            at += size;
            while (reader.isWaiting()) {
                reader.resume(channel.pipeline().context(reader));
            }
        }
        return channel;
    }

    @Property(tries = 400)
    void shouldFindTheFramesWhereverTheyAreCut(
            @ForAll("frames") List<byte[]> frames,
            @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 400) int longest,
            @ForAll @IntRange(min = 0, max = 5) int refusesEvery) {
        final FaultLog<WireFault> log = new FaultLog<>(WireFault.class, SystemClock.INSTANCE);
        final Keeping reader = new Keeping(log, refusesEvery == 1 ? 2 : refusesEvery);
        final EmbeddedChannel channel = feed(reader, joined(frames), new Random(seed), longest);
        assertThat(reader.frames).hasSize(frames.size());
        for (int i = 0; i < frames.size(); i++) {
            assertThat(reader.frames.get(i)).isEqualTo(frames.get(i));
        }
        assertThat(faults(log)).isZero();
        assertThat(channel.isOpen()).isTrue();
        assertThat(channel.close().isSuccess()).isTrue();
        assertThat(reader.ends).isEqualTo(1);
    }

    /** Two frames cut at every byte, and at every pair of bytes of the first header. */
    @Example
    void shouldFindTheFramesCutAtEveryByte() {
        final List<byte[]> frames = List.of(frame(1, 100, 1), frame(2, 0, 2), frame(3, 7, 3));
        final byte[] all = joined(frames);
        for (int first = 1; first < all.length; first++) {
            for (int second = first; second < Math.min(all.length, first + 45); second++) {
                final Keeping reader = new Keeping(new FaultLog<>(WireFault.class, SystemClock.INSTANCE), 0);
                final EmbeddedChannel channel = new EmbeddedChannel(reader);
                for (final byte[] part : List.of(
                        Arrays.copyOfRange(all, 0, first),
                        Arrays.copyOfRange(all, first, second),
                        Arrays.copyOfRange(all, second, all.length))) {
                    channel.writeInbound(Unpooled.wrappedBuffer(part));
                }
                assertThat(joined(reader.frames)).isEqualTo(all);
                assertThat(channel.close().isSuccess()).isTrue();
            }
        }
    }

    @Property(tries = 600)
    void shouldThrowOnlyTheProtocolsErrorForMutatedFrames(
            @ForAll("frames") List<byte[]> frames,
            @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 4) int mutations) {
        final Random random = new Random(seed);
        final byte[] all = joined(frames);
        for (int i = 0; i < mutations; i++) {
            all[random.nextInt(all.length)] ^= (byte) (1 << random.nextInt(8));
        }
        check(all, random);
    }

    @Property(tries = 600)
    void shouldThrowOnlyTheProtocolsErrorForRandomBytes(@ForAll byte[] bytes, @ForAll long seed) {
        check(bytes, new Random(seed));
    }

    private static void check(byte[] bytes, Random random) {
        final FaultLog<WireFault> log = new FaultLog<>(WireFault.class, SystemClock.INSTANCE);
        final Keeping reader = new Keeping(log, 0);
        final EmbeddedChannel channel = feed(reader, bytes, random, 64);
        channel.checkException();
        // A fault closes the connection; nothing else does.
        assertThat(channel.isOpen()).isEqualTo(faults(log) == 0);
        for (final byte[] frame : reader.frames) {
            assertThat(frame.length)
                    .isBetween(PeerFrameDescriptor.HEAD_LENGTH, PeerFrameDescriptor.HEAD_LENGTH + MAX_PAYLOAD);
        }
        assertThat(channel.close().isSuccess()).isTrue();
        assertThat(reader.ends).isEqualTo(1);
    }

    /** Whatever length a header announces, only received bytes are held. */
    @Example
    void shouldHoldNoMoreThanHasCome() {
        final FaultLog<WireFault> log = new FaultLog<>(WireFault.class, SystemClock.INSTANCE);
        final FrameReader reader = new FrameReader(log, SystemClock.INSTANCE) {
            @Override
            public int longest(int type) {
                return 64 << 20;
            }

            @Override
            protected boolean onFrame(ByteBuffer buffer, int at, int length) {
                throw new AssertionError("it is not whole");
            }

            @Override
            protected void onBatchEnd() {
                // Nothing to answer.
            }

            @Override
            protected String describe() {
                return "a peer";
            }

            @Override
            protected void onEnd() {
                // Nothing to free.
            }
        };
        final EmbeddedChannel channel = new EmbeddedChannel(reader);
        final io.netty.buffer.UnpooledByteBufAllocator allocator = new io.netty.buffer.UnpooledByteBufAllocator(true);
        channel.config().setAllocator(allocator);
        final byte[] whole = frame(1, 60 << 20, 1);
        channel.writeInbound(Unpooled.wrappedBuffer(whole, 0, 5000));
        assertThat(allocator.metric().usedDirectMemory()).isLessThan(64 << 10);
        channel.writeInbound(Unpooled.wrappedBuffer(whole, 5000, 100_000));
        assertThat(allocator.metric().usedDirectMemory()).isLessThan(1 << 20);
        assertThat(channel.close().isSuccess()).isTrue();
        assertThat(allocator.metric().usedDirectMemory()).isZero();
    }

    @Property(tries = 400)
    void shouldReadAHelloOrExplainTheFault(@ForAll long seed, @ForAll @IntRange(min = 0, max = 5) int mutations) {
        final Random random = new Random(seed);
        final long[] live =
                random.longs(random.nextInt(20), 1, 1000).sorted().distinct().toArray();
        final PeerHello hello = RawPeer.hello(1 + random.nextInt(2), 2, 1, random.nextLong(), random.nextLong(), live);
        final byte[] sent = RawPeer.bytes(hello);
        for (int i = 0; i < mutations; i++) {
            sent[random.nextInt(sent.length)] ^= (byte) (1 << random.nextInt(8));
        }
        final HandshakeInput input = new HandshakeInput(WirePort.PEERS, true, PeerHandshakeDescriptor.MAX_HELLO);
        try {
            if (input.take(ByteBuffer.wrap(sent))) {
                final PeerHello read = PeerHandshakeDescriptor.readHello(input.frame());
                assertThat(read).usingRecursiveComparison().isEqualTo(hello);
                assertThat(input.frame().limit()).isEqualTo(sent.length);
            }
        } catch (WireException e) {
            assertThat(mutations).isPositive();
        }
    }

    @Property(tries = 400)
    void shouldNotMistakeRandomBytesForAHandshake(@ForAll byte[] bytes) {
        final HandshakeInput input = new HandshakeInput(WirePort.PEERS, false, HandshakeDescriptor.MAX_REFUSAL);
        try {
            assertThat(input.take(ByteBuffer.wrap(bytes))).isFalse();
            assertThat(bytes.length).isLessThan(HandshakeDescriptor.PREFIX_LENGTH);
        } catch (WireException e) {
            assertThat(e.fault()).isNotNull();
        }
    }
}
