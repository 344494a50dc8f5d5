package org.rowankv.rdma.landing.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.ByteProgress;
import org.rowankv.protocol.frame.FrameDecoder;
import org.rowankv.protocol.frame.FrameLimits;
import org.rowankv.protocol.frame.FrameMemory;
import org.rowankv.protocol.frame.WireChecksum;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.FaultLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reader of one connection's frames: a {@link FrameDecoder} on Netty's input, with incomplete frames in Netty's memory.
 * So a peer that stops within a message delays no other.
 *
 * <p>An incomplete frame must progress ({@link ByteProgress}) within the time after which a silent peer counts as dead.
 *
 * <p>A frame that cannot be processed now stays, with all later ones, until {@link #resume}: meanwhile the connection
 * is not read, and the transport applies back-pressure to the peer.
 *
 * <p>Runs on the connection's event loop.
 */
public abstract class FrameReader extends ChannelInboundHandlerAdapter implements FrameLimits {
    private static final Logger LOG = LoggerFactory.getLogger(FrameReader.class);

    protected final WireChecksum checksum = new WireChecksum();
    private final PeerFrameWriter writer = new PeerFrameWriter();
    private final FaultLog<WireFault> faults;
    private final Clock clock;
    private final FrameDecoder cutter = new FrameDecoder(WirePort.PEERS, this, this::replace);
    private final FrameDecoder.Taker taker = this::takes;
    /** Memory of incomplete frames. */
    private ByteBuf partial = Unpooled.EMPTY_BUFFER;

    private @Nullable ChannelHandlerContext context;
    private boolean ended;
    private long lastReadNs;
    private long lastSentNs;
    /** Progress of the incomplete frame, unless this end does not read. */
    private final ByteProgress progress = new ByteProgress();

    /** Bytes of {@link #partial} at the last count. */
    private int counted;

    public FrameReader(FaultLog<WireFault> faults, Clock clock) {
        this.faults = faults;
        this.clock = clock;
        this.lastReadNs = clock.nanoTime();
        this.lastSentNs = lastReadNs;
    }

    /**
     * Processes a complete frame with a valid head and an accepted length.
     *
     * @param buffer little-endian; valid only during the call
     * @return false if it cannot be processed now: it is passed again later
     */
    protected abstract boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException;

    /** All arrived frames were passed, or one must wait. */
    protected abstract void onBatchEnd();

    /** Adjusts the count of bytes in an incomplete frame. */
    protected void onHeld(int delta) {
        // Without payload there is nothing to count.
    }

    /** The connection has ended. Called once. */
    protected abstract void onEnd();

    /** Description of the peer, for logs. */
    protected abstract String describe();

    /** Nothing was sent for a heartbeat: sends a ping. */
    protected void onHeartbeat(Channel to) {
        send(to, PeerFrameDescriptor.PING, 0, 0, 0, 0);
    }

    @Override
    public final void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    /** Null before it is added to its connection. */
    protected final @Nullable ChannelHandlerContext context() {
        return context;
    }

    @Override
    public void channelRead(ChannelHandlerContext here, Object message) {
        if (ended) {
            ReferenceCountUtil.release(message);
            return;
        }
        lastReadNs = clock.nanoTime();
        final ByteBuf in = (ByteBuf) message;
        progress.moved(in.readableBytes(), lastReadNs);
        try {
            cutter.take(
                    in.internalNioBuffer(in.readerIndex(), in.readableBytes()).order(ByteOrder.LITTLE_ENDIAN), taker);
            settle(here, lastReadNs);
        } catch (WireException e) {
            fail(here, e);
        } finally {
            in.release();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext here) {
        if (!ended) {
            onBatchEnd();
        }
    }

    /** Retries the waiting frame, and reads on if it was processed. */
    protected final void resume(ChannelHandlerContext here) {
        if (!isWaiting() || ended) {
            return;
        }
        try {
            cutter.resume(taker);
            if (!isWaiting() && !ended) {
                lastReadNs = clock.nanoTime(); // until now this end did not read
                here.channel().config().setAutoRead(true);
            }
            settle(here, lastReadNs);
        } catch (WireException e) {
            fail(here, e);
        }
        if (!ended) {
            onBatchEnd();
        }
    }

    protected final boolean isWaiting() {
        return cutter.isBlocked();
    }

    private boolean takes(ByteBuffer buffer, int at, int length) throws WireException {
        PeerFrameDescriptor.checkZero(buffer, at);
        if (!onFrame(buffer, at, length)) {
            return false;
        }
        progress.owes(false, lastReadNs); // the next frame has its own deadline
        return true;
    }

    private ByteBuffer replace(ByteBuffer current, int capacity) {
        final ByteBuf former = partial;
        ByteBuffer next = FrameMemory.NOTHING;
        if (capacity == 0) {
            partial = Unpooled.EMPTY_BUFFER;
        } else {
            partial = Objects.requireNonNull(context).alloc().directBuffer(capacity);
            next = FrameMemory.copy(current, partial.nioBuffer(0, capacity));
        }
        former.release();
        return next;
    }

    /** After a read: counts held bytes and progress. */
    private void settle(ChannelHandlerContext here, long nowNs) {
        if (isWaiting()) {
            here.channel().config().setAutoRead(false);
        }
        progress.owes(cutter.heldBytes() > 0 && !isWaiting(), nowNs);
        count();
    }

    /** Does not count data that waits for this end: the peer cannot proceed. */
    private void count() {
        final int delta = (isWaiting() ? 0 : cutter.capacity()) - counted;
        if (delta != 0) {
            counted += delta;
            onHeld(delta);
        }
    }

    /** Checks the peer for silence, and sends heartbeats. */
    public final void tick(long nowNs, long heartbeatNs, long idleNs) {
        final ChannelHandlerContext here = context;
        if (here != null
                && here.channel().isActive()
                && !endIfQuiet(here, nowNs, idleNs)
                && nowNs - lastSentNs >= heartbeatNs
                && here.channel().isWritable()) {
            onHeartbeat(here.channel());
        }
    }

    /**
     * Ends the connection of a peer that is silent, or does not continue a frame, for too long. Not while this end does
     * not read.
     *
     * @return whether it was ended
     */
    final boolean endIfQuiet(ChannelHandlerContext here, long nowNs, long idleNs) {
        if (isWaiting() || ended) {
            return ended;
        }
        if (nowNs - lastReadNs > idleNs) {
            fail(here, new WireException(WireFault.SILENT, describe()));
        } else if (progress.ageNs(nowNs) > idleNs) {
            fail(here, stalled());
        }
        return ended;
    }

    /** Buffered bytes of the incomplete frame; 0 if this end does not read. */
    public final int heldBytes() {
        return counted;
    }

    /** Ends the connection to free the memory of its incomplete frame. */
    public final void endForMemory() {
        final ChannelHandlerContext here = context;
        if (here != null) {
            fail(here, stalled());
        }
    }

    private WireException stalled() {
        return new WireException(
                WireFault.STALLED,
                describe() + ": " + cutter.heldBytes() + " of " + cutter.awaitedLength() + " bytes have arrived");
    }

    /** Writes a frame without payload. */
    protected final void write(Channel to, int type, int flags, long number, long first, long second) {
        lastSentNs = clock.nanoTime();
        final var unused = to.write(writer.frame(to.alloc(), type, flags, number, first, second), to.voidPromise());
    }

    /** As {@link #write}, and flushes all earlier writes. */
    protected final void send(Channel to, int type, int flags, long number, long first, long second) {
        write(to, type, flags, number, first, second);
        final var unused = to.flush();
    }

    /** Ends this connection because of a fault of its peer. */
    protected final void fail(ChannelHandlerContext here, WireException e) {
        if (!ended) {
            faults.report(e.fault(), here.channel().remoteAddress(), e.text());
            end(here);
        }
    }

    /** Ends this connection. */
    protected final void end(ChannelHandlerContext here) {
        release();
        final var unused = here.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext here) {
        release();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext here, Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug("The connection of {} broke", here.channel().remoteAddress(), cause);
        } else {
            LOG.error(
                    "ROWAN-3005 The connection of {} is closed after a failure",
                    here.channel().remoteAddress(),
                    cause);
        }
        end(here);
    }

    private void release() {
        if (ended) {
            return;
        }
        ended = true;
        cutter.release();
        count();
        onEnd();
    }
}
