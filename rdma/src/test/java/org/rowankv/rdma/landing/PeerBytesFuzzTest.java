package org.rowankv.rdma.landing;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.HandshakeInput;
import org.rowankv.protocol.frame.WireChecksum;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.ProofDescriptor;
import org.rowankv.runtime.FaultLog;
import org.rowankv.runtime.SystemClock;

/**
 * Everything that decodes bytes of a peer, under a fuzzer that looks at which branches it reaches. The first byte chooses
 * the decoder, the second where the rest is split; checksums are corrected, or the fuzzer would never pass them. Any
 * exception that is not the protocol's own is a finding.
 */
@Tag("fuzz")
final class PeerBytesFuzzTest {
    private static final int FRAMES = 0;
    private static final int HELLO = 1;
    private static final int ANSWER = 2;
    private static final int SENDER = 3;
    private static final int CHALLENGE = 4;
    private static final int PROOF = 5;

    @FuzzTest(maxDuration = "15s")
    void decode(byte[] data) {
        if (data.length < 2) {
            return;
        }
        final ByteBuf rest = Unpooled.directBuffer().writeBytes(data, 2, data.length - 2);
        try {
            switch (data[0] % 6) {
                case FRAMES -> frames(new Receiving(), rest, data[1] & 0xff);
                case HELLO -> hello(rest);
                case ANSWER, CHALLENGE -> answer(rest);
                case SENDER -> frames(sender(), rest, data[1] & 0xff);
                case PROOF -> proof(rest);
                default -> {
                    // A negative byte: no decoder's.
                }
            }
        } catch (WireException e) {
            refused(e);
        } finally {
            rest.release();
        }
    }

    /** Takes every frame and reads all of it, as receivers do. */
    private static final class Receiving extends FrameReader {
        Receiving() {
            super(new FaultLog<>(WireFault.class, SystemClock.INSTANCE), SystemClock.INSTANCE);
        }

        @Override
        public int longest(int type) {
            return type >= PeerFrameDescriptor.SEND && type <= PeerFrameDescriptor.FENCED_AT
                    ? PeerFrameDescriptor.HEAD_LENGTH + (128 << 10)
                    : -1;
        }

        @Override
        protected boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException {
            if (FrameHeadDescriptor.length(buffer, at) != length || length > buffer.limit() - at) {
                throw new AssertionError("a frame of " + length + " bytes that is not whole");
            }
            PeerFrameDescriptor.checkPayload(buffer, at, length, checksum);
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
            // Nothing to free.
        }
    }

    /** The sender's end of a queue pair with two SENDs in flight. */
    private static AckReader sender() {
        final AckReader reader = new AckReader(
                new EmbeddedChannel(),
                true,
                new FaultLog<>(WireFault.class, SystemClock.INSTANCE),
                SystemClock.INSTANCE,
                () -> {},
                () -> {});
        reader.posted(2);
        reader.asked(1000);
        return reader;
    }

    private static void frames(FrameReader reader, ByteBuf bytes, int cut) {
        repairFrames(bytes);
        final EmbeddedChannel channel = new EmbeddedChannel(reader);
        final int first = Math.min(cut, bytes.readableBytes());
        channel.writeInbound(bytes.retainedSlice(0, first));
        // A fault closes the connection; later bytes are dropped.
        if (channel.isOpen()) {
            channel.writeInbound(bytes.retainedSlice(first, bytes.readableBytes() - first));
        }
        channel.checkException();
        channel.finishAndReleaseAll();
    }

    private static void repairFrames(ByteBuf bytes) {
        final WireChecksum checksum = new WireChecksum();
        final ByteBuffer view =
                bytes.internalNioBuffer(0, bytes.writerIndex()).slice().order(ByteOrder.LITTLE_ENDIAN);
        int at = 0;
        while (view.limit() - at >= PeerFrameDescriptor.HEAD_LENGTH) {
            FrameHeadDescriptor.seal(view, at, PeerFrameDescriptor.HEAD_LENGTH, checksum);
            final int length = FrameHeadDescriptor.length(view, at);
            if (length < PeerFrameDescriptor.HEAD_LENGTH || length > view.limit() - at) {
                return;
            }
            at += length;
        }
    }

    /** The frame of a handshake that the bytes begin with, with its crc corrected; null if there is none. */
    private static @Nullable ByteBuffer handshake(ByteBuf from, boolean called, int longest) throws WireException {
        final ByteBuffer bytes = from.nioBuffer().order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.limit() >= HandshakeDescriptor.PREFIX_LENGTH) {
            final int length = bytes.getInt(HandshakeDescriptor.LENGTH_OFFSET);
            if (length > HandshakeDescriptor.LENGTH_OFFSET && length <= bytes.limit()) {
                final int covered = length - HandshakeDescriptor.LENGTH_OFFSET;
                bytes.putInt(
                        HandshakeDescriptor.CRC_OFFSET,
                        new WireChecksum().of(bytes, HandshakeDescriptor.LENGTH_OFFSET, covered));
            }
        }
        final HandshakeInput input = new HandshakeInput(WirePort.PEERS, called, longest);
        return input.take(bytes) ? input.frame() : null;
    }

    private static void hello(ByteBuf bytes) throws WireException {
        final ByteBuffer frame = handshake(bytes, true, PeerHandshakeDescriptor.MAX_HELLO);
        if (frame != null) {
            PeerHandshakeDescriptor.readHello(frame);
        }
    }

    private static void answer(ByteBuf bytes) throws WireException {
        final ByteBuffer frame = handshake(bytes, false, HandshakeDescriptor.MAX_REFUSAL);
        if (frame == null) {
            return;
        }
        if (ProofDescriptor.isChallenge(frame)) {
            ProofDescriptor.checkChallenge(frame);
        } else if (HandshakeDescriptor.code(frame) == HandshakeDescriptor.ACCEPTED) {
            PeerHandshakeDescriptor.readWelcome(frame);
        } else {
            HandshakeDescriptor.text(frame);
        }
    }

    private static void proof(ByteBuf bytes) throws WireException {
        final ByteBuffer frame = handshake(bytes, true, ProofDescriptor.PROOF_LENGTH);
        if (frame != null) {
            ProofDescriptor.readProof(frame);
        }
    }

    private static void refused(WireException e) {
        if (e.text().isEmpty()) {
            throw new AssertionError("refused without a reason", e);
        }
    }
}
