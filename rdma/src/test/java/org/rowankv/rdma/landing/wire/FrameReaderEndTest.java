package org.rowankv.rdma.landing.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.landing.RawPeer;
import org.rowankv.runtime.FaultLog;
import org.rowankv.runtime.SystemClock;

/** A frame that ends its connection, wherever the network split it. */
final class FrameReaderEndTest {
    private static final int FRAMES = 2;

    /** Ends with the first frame. */
    private static final class EndingReader extends FrameReader {
        private final List<Throwable> failures = new ArrayList<>();
        private int frames;
        private int ends;

        EndingReader() {
            super(new FaultLog<>(WireFault.class, SystemClock.INSTANCE), SystemClock.INSTANCE);
        }

        @Override
        public int longest(int type) {
            return PeerFrameDescriptor.HEAD_LENGTH;
        }

        @Override
        protected boolean onFrame(ByteBuffer buffer, int at, int length) {
            frames++;
            end(Objects.requireNonNull(context()));
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

        @Override
        public void exceptionCaught(ChannelHandlerContext here, Throwable cause) {
            failures.add(cause);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, PeerFrameDescriptor.HEAD_LENGTH, PeerFrameDescriptor.HEAD_LENGTH + 1, 80})
    void shouldEndOnceWithoutAFailureAndReleaseWhatArrived(int cut) {
        final EndingReader reader = new EndingReader();
        final EmbeddedChannel channel = new EmbeddedChannel(reader);
        final ByteBuf bytes = Unpooled.directBuffer(FRAMES * PeerFrameDescriptor.HEAD_LENGTH);
        final byte[] one = RawPeer.frame(PeerFrameDescriptor.PING, 0, 0, 0, 0, 0, new byte[0]);
        for (int i = 0; i < FRAMES; i++) {
            bytes.writeBytes(one);
        }
        final List<ByteBuf> arriving = new ArrayList<>();
        while (bytes.isReadable()) {
            arriving.add(bytes.readBytes(Math.min(cut, bytes.readableBytes())));
        }
        arriving.forEach(part -> channel.pipeline().fireChannelRead(part));
        // The reader does not own bytes behind the end.
        channel.releaseInbound();
        channel.checkException();
        assertThat(reader.failures).isEmpty();
        assertThat(reader.frames).isEqualTo(1);
        assertThat(reader.ends).isEqualTo(1);
        assertThat(channel.isOpen()).isFalse();
        assertThat(arriving).allSatisfy(part -> assertThat(part.refCnt()).isZero());
        bytes.release();
    }
}
