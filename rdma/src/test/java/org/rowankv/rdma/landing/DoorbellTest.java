package org.rowankv.rdma.landing;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.FaultLog;
import org.rowankv.runtime.SystemClock;

/** Posts wait for the next poll, which hands all of them to the connection in one write. */
final class DoorbellTest {
    private static final int LENGTH = 192;
    private static final int FRAME = PeerFrameDescriptor.HEAD_LENGTH + LENGTH - FrameDescriptor.HEADER_LENGTH;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final LandingQueuePair pair = new LandingQueuePair(
            null,
            1,
            1,
            new PeerWelcome(1, 1, 4096, 4096, 8, 4096, PeerHandshakeDescriptor.READY),
            4096,
            channel,
            new AckReader(
                    channel,
                    true,
                    new FaultLog<>(WireFault.class, SystemClock.INSTANCE),
                    SystemClock.INSTANCE,
                    () -> {},
                    () -> {}),
            new InFlightRing(256));

    @AfterEach
    void close() {
        channel.releaseOutbound();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 16, 64, 250})
    void shouldRingOnceForAllPostsSinceTheLastPoll(int posts) {
        final Entries entries = new Entries();
        for (int id = 1; id <= posts; id++) {
            assertThat(pair.send(id, entries.make(id, LENGTH), 0, LENGTH, 0)).isEqualTo(PostStatus.POSTED);
        }
        assertThat(channel.outboundMessages()).as("before the poll").isEmpty();

        assertThat(pair.poll((context, status) -> {}, 10)).isZero();
        assertThat(channel.outboundMessages()).hasSize(1);
        final ByteBuf batch = channel.readOutbound();
        assertThat(batch.readableBytes()).isEqualTo(posts * FRAME);
        batch.release();

        assertThat(pair.poll((context, status) -> {}, 10)).isZero();
        assertThat(channel.outboundMessages()).as("without posts").isEmpty();
    }
}
