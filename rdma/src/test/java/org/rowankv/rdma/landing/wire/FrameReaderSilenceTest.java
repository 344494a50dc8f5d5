package org.rowankv.rdma.landing.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.landing.RawPeer;
import org.rowankv.runtime.FaultLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SystemClock;

/**
 * When a peer counts as gone, held against a model: it says nothing for too long, or a frame of it does not get on. Time in
 * which this end does not read is never its peer's fault.
 */
final class FrameReaderSilenceTest {
    private static final long IDLE_NS = 1_000;
    /** Bytes that count as progress of a frame. */
    private static final int STEP = 64 << 10;

    private static final int LONGEST = 4 * STEP;
    private static final int[] PAYLOADS = {0, 1, 500, STEP, STEP + 7, LONGEST};
    private static final int[] PARTS = {
        1, 39, 40, 41, 200, STEP - 1, STEP, STEP + 1, 2 * STEP, LONGEST + PeerFrameDescriptor.HEAD_LENGTH
    };
    private static final long[] PAUSES = {1, IDLE_NS / 2, IDLE_NS - 1, IDLE_NS, IDLE_NS + 1};

    private final ManualClock clock = new ManualClock();
    private final FaultLog<WireFault> faults = new FaultLog<>(WireFault.class, SystemClock.INSTANCE);
    private boolean takes = true;

    /** Processes frames or defers them, as the test sets. */
    private final class Choosy extends FrameReader {

        Choosy() {
            super(faults, clock);
        }

        @Override
        public int longest(int type) {
            return PeerFrameDescriptor.HEAD_LENGTH + LONGEST;
        }

        @Override
        protected boolean onFrame(ByteBuffer buffer, int at, int length) {
            return takes;
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

    /** The model of the peer. */
    private final class Model {
        private long lastReadNs;
        private boolean waiting;
        /** Received bytes of frames that were not taken yet. */
        private int have;

        private int frameLength;
        /** Bytes of the frame at its last progress; 0: it has not begun. */
        private int gotOn;

        private long gotOnNs;

        void came(int bytes, Frames frames) {
            have += bytes;
            lastReadNs = clock.nanoTime();
            if (!waiting) {
                go(frames);
            }
        }

        void resume(Frames frames) {
            if (waiting) {
                waiting = false;
                go(frames);
                if (!waiting) {
                    lastReadNs = clock.nanoTime();
                }
            }
        }

        private void go(Frames frames) {
            while (have >= frameLength) {
                if (!takes) {
                    waiting = true;
                    return;
                }
                have -= frameLength;
                frameLength = frames.nextTaken();
                gotOn = 0;
            }
            if (have > 0 && (gotOn == 0 || have - gotOn >= STEP)) {
                gotOn = have;
                gotOnNs = clock.nanoTime();
            }
        }

        WireFault fault() {
            if (waiting) {
                return null;
            }
            if (clock.nanoTime() - lastReadNs > IDLE_NS) {
                return WireFault.SILENT;
            }
            return gotOn > 0 && clock.nanoTime() - gotOnNs > IDLE_NS ? WireFault.STALLED : null;
        }
    }

    /** An endless stream of frames, whose lengths the receiver can verify. */
    private static final class Frames {
        private final Random lengths;
        private final Random again;
        private ByteBuf bytes = Unpooled.buffer();

        Frames(long seed) {
            lengths = new Random(seed);
            again = new Random(seed);
        }

        int nextTaken() {
            return PeerFrameDescriptor.HEAD_LENGTH + PAYLOADS[again.nextInt(PAYLOADS.length)];
        }

        ByteBuf next(int size) {
            while (bytes.readableBytes() < size) {
                final int payload = PAYLOADS[lengths.nextInt(PAYLOADS.length)];
                bytes.writeBytes(RawPeer.frame(PeerFrameDescriptor.SEND, 0, 0, 0, 0, 0, new byte[payload]));
            }
            return bytes.readBytes(size);
        }
    }

    @Property(tries = 150)
    void shouldCloseOnlyPeersThatAreSilentOrMakeNoProgress(@ForAll long seed) {
        final Random random = new Random(seed);
        final Frames frames = new Frames(seed);
        final Choosy reader = new Choosy();
        final EmbeddedChannel channel = new EmbeddedChannel(reader);
        final Model model = new Model();
        model.lastReadNs = clock.nanoTime();
        model.frameLength = frames.nextTaken();
        takes = true;
        for (int step = 0; step < 60 && channel.isOpen(); step++) {
            switch (random.nextInt(6)) {
                case 0, 1 -> {
                    final int part = PARTS[random.nextInt(PARTS.length)];
                    channel.writeInbound(frames.next(part));
                    model.came(part, frames);
                }
                case 2 -> takes = random.nextInt(3) > 0;
                case 3 -> {
                    reader.resume(reader.context());
                    model.resume(frames);
                }
                default -> {
                    clock.advanceNs(PAUSES[random.nextInt(PAUSES.length)]);
                    final long silent = faults.count(WireFault.SILENT);
                    final long stalled = faults.count(WireFault.STALLED);
                    final WireFault expected = model.fault();
                    assertThat(reader.endIfQuiet(reader.context(), clock.nanoTime(), IDLE_NS))
                            .as("%s after step %s", expected, step)
                            .isEqualTo(expected != null);
                    assertThat(faults.count(WireFault.SILENT) - silent).isEqualTo(expected == WireFault.SILENT ? 1 : 0);
                    assertThat(faults.count(WireFault.STALLED) - stalled)
                            .isEqualTo(expected == WireFault.STALLED ? 1 : 0);
                }
            }
            assertThat(reader.isWaiting()).isEqualTo(model.waiting && channel.isOpen());
        }
        assertThat(List.of(channel.close().isSuccess())).containsExactly(true);
    }

    /** A slow frame ends, and in the same read the next one begins. */
    @Example
    void shouldGiveEachFrameItsOwnTime() {
        final Choosy reader = new Choosy();
        final EmbeddedChannel channel = new EmbeddedChannel(reader);
        final ByteBuf two = Unpooled.buffer();
        for (int i = 0; i < 2; i++) {
            two.writeBytes(RawPeer.frame(PeerFrameDescriptor.SEND, 0, 0, 0, 0, 0, new byte[500]));
        }
        final int one = two.readableBytes() / 2;
        channel.writeInbound(two.readBytes(one - 1));
        clock.advanceNs(IDLE_NS - 1);
        channel.writeInbound(two.readBytes(2));
        clock.advanceNs(IDLE_NS);
        assertThat(reader.endIfQuiet(reader.context(), clock.nanoTime(), IDLE_NS))
                .isFalse();
        clock.advanceNs(1);
        assertThat(reader.endIfQuiet(reader.context(), clock.nanoTime(), IDLE_NS))
                .isTrue();
        assertThat(channel.close().isSuccess()).isTrue();
    }
}
