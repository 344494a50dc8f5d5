package org.rowankv.rdma.tcp.wire;

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
 * Reads the frames of one connection: a {@link FrameDecoder} on what Netty brings, with Netty's memory for what is not whole. So a
 * peer that stops in the middle of a message holds up no other.
 *
 * <p>A frame that is not whole must get on ({@link ByteProgress}) in the time after which a silent peer counts as gone.
 *
 * <p>A frame that cannot be taken now stays where it is, and so does all behind it, until {@link #resume}: meanwhile the
 * connection is not read from, and TCP makes the peer wait.
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
    /** Where the cutter keeps what is not whole. */
    private ByteBuf partial = Unpooled.EMPTY_BUFFER;

    private @Nullable ChannelHandlerContext context;
    private boolean ended;
    private long lastReadNs;
    private long lastSentNs;
    /** Of the frame that is not whole, unless this end does not read. */
    private final ByteProgress progress = new ByteProgress();

    /** Bytes of {@link #partial} as they were counted last. */
    private int counted;

    public FrameReader(FaultLog<WireFault> faults, Clock clock) {
        this.faults = faults;
        this.clock = clock;
        this.lastReadNs = clock.nanoTime();
        this.lastSentNs = lastReadNs;
    }

    /**
     * A whole frame, whose head is sound and whose length is within the limits.
     *
     * @param buffer little-endian; the bytes are there during the call only
     * @return false if it cannot be taken now: it will be handed on again
     */
    protected abstract boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException;

    /** All that has arrived was handed on, or a frame has to wait. */
    protected abstract void onBatchEnd();

    /** So many bytes more, or fewer, are held of a frame that is not whole. */
    protected void onHeld(int delta) {
        // Of frames without payload there is nothing to count.
    }

    /** The connection is over: nothing more arrives. Called once. */
    protected abstract void onEnd();

    /** What is known of the peer, for the log. */
    protected abstract String describe();

    /** Nothing was sent for a heartbeat: sends something. */
    protected void onHeartbeat(Channel to) {
        send(to, PeerFrameDescriptor.PING, 0, 0, 0, 0);
    }

    @Override
    public final void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    /** Null before it was added to its connection. */
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

    /** Tries again what had to wait, and goes on reading if it was taken. */
    protected final void resume(ChannelHandlerContext here) {
        if (!isWaiting() || ended) {
            return;
        }
        try {
            cutter.resume(taker);
            if (!isWaiting() && !ended) {
                lastReadNs = clock.nanoTime(); // until now this end did not listen
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
        progress.owes(false, lastReadNs); // the frame behind it has a time of its own
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

    /** Behind what was read: what is held, and whether it got on. */
    private void settle(ChannelHandlerContext here, long nowNs) {
        if (isWaiting()) {
            here.channel().config().setAutoRead(false);
        }
        progress.owes(cutter.bufferAccounting() > 0 && !isWaiting(), nowNs);
        count();
    }

    /** What waits for this end is not counted: the peer cannot go on. */
    private void count() {
        final int delta = (isWaiting() ? 0 : cutter.capacity()) - counted;
        if (delta != 0) {
            counted += delta;
            onHeld(delta);
        }
    }

    /** Looks whether the peer is still there, and says that this end is. */
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
     * Ends a connection whose peer sends nothing, or does not go on with a frame, for too long. Not while this end does not read.
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

    /** Bytes of the buffer of the frame that is not whole; 0 if this end does not read. */
    public final int bufferAccounting() {
        return counted;
    }

    /** Ends a connection for the memory of its unfinished frame. */
    public final void endForMemory() {
        final ChannelHandlerContext here = context;
        if (here != null) {
            fail(here, stalled());
        }
    }

    private WireException stalled() {
        return new WireException(
                WireFault.STALLED,
                describe() + ": " + cutter.bufferAccounting() + " of " + cutter.awaitedLength()
                        + " bytes have arrived");
    }

    /** Writes a frame without payload. */
    protected final void write(Channel to, int type, int flags, long number, long first, long second) {
        lastSentNs = clock.nanoTime();
        final var unused = to.write(writer.frame(to.alloc(), type, flags, number, first, second), to.voidPromise());
    }

    /** As {@link #write}, with all that was written before. */
    protected final void send(Channel to, int type, int flags, long number, long first, long second) {
        write(to, type, flags, number, first, second);
        final var unused = to.flush();
    }

    /** Ends this connection because of what its peer did. */
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
                    "The connection of {} is closed after a failure",
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
