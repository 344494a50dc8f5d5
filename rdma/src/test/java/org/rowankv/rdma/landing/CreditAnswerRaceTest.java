package org.rowankv.rdma.landing;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerFrameWriter;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.runtime.FaultLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.TestScale;

/** The owner requests credit while the event loop reads the response: a full grant never looks like a refusal. */
@Tag("races")
@Tag("jvm")
final class CreditAnswerRaceTest {
    private static final int ROUNDS = TestScale.of(20_000, 200_000);
    private static final long REQUESTED = 100;

    private final AtomicLong requests = new AtomicLong();
    private volatile boolean over;
    private final EmbeddedChannel away = new EmbeddedChannel();
    private final AckReader reader = new AckReader(
            away,
            true,
            new FaultLog<>(WireFault.class, SystemClock.INSTANCE),
            SystemClock.INSTANCE,
            () -> {},
            () -> {});
    private final LandingQueuePair pair = new LandingQueuePair(
            null,
            1,
            1,
            new PeerWelcome(1, 1, 4096, 4096, 8, 4096, PeerHandshakeDescriptor.READY),
            4096,
            away,
            reader,
            new InFlightRing(16));

    /** The event loop: grants each request in full. */
    private void answer() {
        final EmbeddedChannel arriving = new EmbeddedChannel(reader);
        final PeerFrameWriter writer = new PeerFrameWriter();
        for (long round = 1; round <= ROUNDS; round++) {
            final ByteBuf ack =
                    writer.frame(arriving.alloc(), PeerFrameDescriptor.ACK, 0, 0, round * REQUESTED, round * REQUESTED);
            while (requests.get() < round) {
                if (over) {
                    return;
                }
                Thread.onSpinWait();
            }
            arriving.writeInbound(ack);
        }
    }

    private void ask(long round) {
        // Until it requests: the first values may still belong to the request before.
        ByteBuf request = null;
        while (request == null) {
            assertThat(pair.acquireCredit(REQUESTED)).isZero();
            request = away.readOutbound();
        }
        request.release();
        requests.set(round);
        long drawn = 0;
        while (drawn < REQUESTED) {
            drawn += pair.acquireCredit(REQUESTED - drawn);
            assertThat(drawn == REQUESTED || pair.awaitsCredit())
                    .as("granted in full, and taken for a refusal, round %s", round)
                    .isTrue();
        }
    }

    @Test
    @Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldNotMistakeAGrantForARefusal() throws InterruptedException {
        final Thread answering = new Thread(this::answer, "answering");
        answering.start();
        try {
            for (long round = 1; round <= ROUNDS; round++) {
                ask(round);
            }
        } finally {
            over = true;
            answering.join();
        }
    }
}
