package org.rowankv.rdma.tcp;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.tcp.wire.FrameReader;
import org.rowankv.rdma.tcp.wire.HelloDescriptor;
import org.rowankv.rdma.tcp.wire.ProofDescriptor;
import org.rowankv.rdma.tcp.wire.WireChecksum;
import org.rowankv.rdma.tcp.wire.WireDescriptor;
import org.rowankv.rdma.tcp.wire.WireException;
import org.rowankv.rdma.tcp.wire.WireFault;
import org.rowankv.runtime.FaultLog;
import org.rowankv.runtime.SystemClock;

/**
 * Everything that decodes bytes of a peer, under a fuzzer that looks at which branches it reaches. The first byte chooses
 * the decoder, the second where the rest is cut; checksums are made right, or the fuzzer would never come past them. Any
 * exception that is not the protocol's own is a finding.
 */
@Tag("fuzz")
final class PeerBytesFuzzTest {
    private static final int FRAMES = 0;
    private static final int HELLO = 1;
    private static final int WELCOME = 2;
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
                case WELCOME -> welcome(rest);
                case SENDER -> frames(sender(), rest, data[1] & 0xff);
                case CHALLENGE -> challenge(rest);
                case PROOF -> proof(rest);
                default -> {
                    // A negative byte: no decoder's.
                }
            }
        } finally {
            rest.release();
        }
    }

    /** Takes every frame and looks at all of it, as receivers do. */
    private static final class Receiving extends FrameReader {
        Receiving() {
            super(new FaultLog<>(WireFault.class), SystemClock.INSTANCE);
        }

        @Override
        public int mostPayload(int type) {
            return type >= WireDescriptor.SEND && type <= WireDescriptor.SETTLED ? 128 << 10 : -1;
        }

        @Override
        protected boolean onFrame(ByteBuf buffer, int at, int length) throws WireException {
            if (WireDescriptor.length(buffer, at) != length || length > buffer.writerIndex() - at) {
                throw new AssertionError("a frame of " + length + " bytes that is not whole");
            }
            WireDescriptor.checkPayload(buffer, at, length, checksum);
            return true;
        }

        @Override
        protected void onBatchEnd() {
            // Nothing to answer.
        }

        @Override
        protected void onEnd() {
            // Nothing to free.
        }
    }

    /** The sender's end of a queue pair with two SENDs in flight. */
    private static PairReader sender() {
        final PairReader reader = new PairReader(
                new EmbeddedChannel(), true, new FaultLog<>(WireFault.class), SystemClock.INSTANCE, () -> {}, () -> {});
        reader.posted(2);
        reader.asked(1000);
        return reader;
    }

    private static void frames(FrameReader reader, ByteBuf bytes, int cut) {
        repairFrames(bytes);
        final EmbeddedChannel channel = new EmbeddedChannel(reader);
        final int first = Math.min(cut, bytes.readableBytes());
        channel.writeInbound(bytes.retainedSlice(0, first));
        // A fault closes the connection; what comes behind it is nobody's.
        if (channel.isOpen()) {
            channel.writeInbound(bytes.retainedSlice(first, bytes.readableBytes() - first));
        }
        channel.checkException();
        channel.finishAndReleaseAll();
    }

    private static void repairFrames(ByteBuf bytes) {
        final WireChecksum checksum = new WireChecksum();
        int at = 0;
        while (bytes.writerIndex() - at >= WireDescriptor.HEADER_LENGTH) {
            final int covered = WireDescriptor.HEADER_LENGTH - WireDescriptor.LENGTH_OFFSET;
            bytes.setIntLE(
                    at + WireDescriptor.CRC_OFFSET, checksum.of(bytes, at + WireDescriptor.LENGTH_OFFSET, covered));
            final int length = WireDescriptor.length(bytes, at);
            if (length < WireDescriptor.HEADER_LENGTH || length > bytes.writerIndex() - at) {
                return;
            }
            at += length;
        }
    }

    private static void repairHandshake(ByteBuf bytes) {
        if (bytes.readableBytes() >= HelloDescriptor.PREFIX_LENGTH) {
            final int length = bytes.getIntLE(HelloDescriptor.LENGTH_OFFSET);
            if (length > HelloDescriptor.LENGTH_OFFSET && length <= bytes.readableBytes()) {
                bytes.setIntLE(
                        HelloDescriptor.CRC_OFFSET,
                        new WireChecksum()
                                .of(bytes, HelloDescriptor.LENGTH_OFFSET, length - HelloDescriptor.LENGTH_OFFSET));
            }
        }
    }

    private static void hello(ByteBuf bytes) {
        repairHandshake(bytes);
        try {
            if (HelloDescriptor.isWhole(bytes, HelloDescriptor.HELLO_LENGTH, HelloDescriptor.MAX_HELLO)) {
                HelloDescriptor.readHello(bytes, new WireChecksum());
            }
        } catch (WireException e) {
            refused(e);
        }
    }

    private static void welcome(ByteBuf bytes) {
        repairHandshake(bytes);
        try {
            if (HelloDescriptor.isWhole(bytes, HelloDescriptor.WELCOME_LENGTH, HelloDescriptor.MAX_WELCOME)) {
                HelloDescriptor.readWelcome(bytes, new WireChecksum());
            }
        } catch (WireException e) {
            refused(e);
        }
    }

    private static void challenge(ByteBuf bytes) {
        repairHandshake(bytes);
        try {
            if (HelloDescriptor.isWhole(bytes, ProofDescriptor.CHALLENGE_LENGTH, HelloDescriptor.MAX_WELCOME)
                    && ProofDescriptor.isChallenge(bytes)) {
                ProofDescriptor.readChallenge(bytes, new WireChecksum());
            }
        } catch (WireException e) {
            refused(e);
        }
    }

    private static void proof(ByteBuf bytes) {
        repairHandshake(bytes);
        try {
            if (HelloDescriptor.isWhole(bytes, ProofDescriptor.PROOF_LENGTH, ProofDescriptor.PROOF_LENGTH)) {
                ProofDescriptor.readProof(bytes, new WireChecksum());
            }
        } catch (WireException e) {
            refused(e);
        }
    }

    private static void refused(WireException e) {
        if (e.text().isEmpty()) {
            throw new AssertionError("refused without a reason", e);
        }
    }
}
