package org.rowankv.rdma.tcp.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayDeque;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.FaultLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cuts what arrives on one connection into frames. A frame is handed on when all of it is there, wherever the network cut
 * it; what is missing is waited for in a buffer of this connection, which grows with what has come, not with what was
 * announced. So a peer that stops in the middle of a message holds up nobody else.
 *
 * <p>A frame that is not whole must get on: by {@value #STEP} bytes, or to its end, in the time after which a silent peer counts as
 * gone. A byte now and then is not enough.
 *
 * <p>A frame that cannot be taken now stays where it is, and so does all behind it, until {@link #resume}: meanwhile the
 * connection is not read from, and TCP makes the peer wait.
 *
 * <p>Runs on the connection's event loop.
 */
public abstract class FrameReader extends ChannelInboundHandlerAdapter implements FrameLimits {
    private static final Logger LOG = LoggerFactory.getLogger(FrameReader.class);
    private static final int FIRST_CAPACITY = 4 << 10;
    /** Bytes of a frame that count as progress. */
    private static final int STEP = 64 << 10;

    protected final WireChecksum checksum = new WireChecksum();
    private final FaultLog<WireFault> faults;
    private final Clock clock;
    private final ArrayDeque<ByteBuf> backlog = new ArrayDeque<>(4);
    private ByteBuf partial = Unpooled.EMPTY_BUFFER;
    private int partialLength;
    private boolean waiting;
    private boolean ended;
    private long lastReadNs;
    /** Bytes of the frame that had come when it got on the last time; 0: none is under way. */
    private int progress;

    private long progressNs;
    /** Capacity of {@link #partial} as it was counted last. */
    private int counted;

    public FrameReader(FaultLog<WireFault> faults, Clock clock) {
        this.faults = faults;
        this.clock = clock;
        this.lastReadNs = clock.nanoTime();
    }

    /**
     * A whole frame, whose header is sound and whose length is within the limits.
     *
     * @return false if it cannot be taken now: it will be handed on again
     */
    protected abstract boolean onFrame(ByteBuf buffer, int at, int length) throws WireException;

    /** All that has arrived was handed on, or a frame has to wait. */
    protected abstract void onBatchEnd();

    /** So many bytes more, or fewer, are held of a frame that is not whole. */
    protected void onHeld(int delta) {
        // Of frames without payload there is nothing to count.
    }

    /** The connection is over: nothing more comes. Called once. */
    protected abstract void onEnd();

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (ended) {
            ReferenceCountUtil.release(message);
            return;
        }
        lastReadNs = clock.nanoTime();
        backlog.add((ByteBuf) message);
        if (!waiting) {
            drain(context);
            settle(lastReadNs);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (!ended) {
            onBatchEnd();
        }
    }

    /** Tries again what had to wait, and goes on reading if it was taken. */
    protected final void resume(ChannelHandlerContext context) {
        if (!waiting || ended) {
            return;
        }
        waiting = false;
        drain(context);
        if (!waiting && !ended) {
            lastReadNs = clock.nanoTime(); // until now this end did not listen
            settle(lastReadNs);
            context.channel().config().setAutoRead(true);
        }
        if (!ended) {
            onBatchEnd();
        }
    }

    protected final boolean isWaiting() {
        return waiting;
    }

    /** Behind what was read: what is held, and whether it got on. */
    private void settle(long nowNs) {
        final int have = partial.readableBytes();
        if (have > 0 && (progress == 0 || have - progress >= STEP)) {
            progress = have;
            progressNs = nowNs;
        }
        count();
    }

    private void count() {
        final int delta = partial.capacity() - counted;
        if (delta != 0) {
            counted += delta;
            onHeld(delta);
        }
    }

    /**
     * Ends a connection whose peer sends nothing, or does not go on with a frame, for too long. Not while this end does not read.
     *
     * @param peer what is known of it
     * @return whether it was ended
     */
    protected final boolean endIfQuiet(ChannelHandlerContext context, long nowNs, long idleNs, String peer) {
        if (waiting || ended) {
            return ended;
        }
        if (nowNs - lastReadNs > idleNs) {
            fail(context, new WireException(WireFault.SILENT, peer));
        } else if (stalledNs(nowNs) > idleNs) {
            fail(context, stalled(peer));
        }
        return ended;
    }

    /** For how long the frame that is under way has not got on; −1 if none is, or this end does not read. */
    private long stalledNs(long nowNs) {
        return waiting || progress == 0 ? -1 : Math.max(0, nowNs - progressNs);
    }

    /** Bytes of the buffer of the frame that is not whole; 0 if this end does not read, since the peer cannot go on. */
    public final int heldBytes() {
        return waiting ? 0 : counted;
    }

    /** Ends a connection for the memory of its unfinished frame. */
    public final void endForMemory(ChannelHandlerContext context, String peer) {
        fail(context, stalled(peer));
    }

    private WireException stalled(String peer) {
        return new WireException(
                WireFault.STALLED, peer + ": " + partial.readableBytes() + " of " + partialLength + " bytes have come");
    }

    private void drain(ChannelHandlerContext context) {
        try {
            boolean taken = partialLength == 0 || consume(context, Unpooled.EMPTY_BUFFER);
            while (taken && !backlog.isEmpty()) {
                taken = consume(context, backlog.peekFirst());
                if (taken && !ended) {
                    backlog.pollFirst().release();
                }
            }
            if (!taken) {
                waiting = true;
                context.channel().config().setAutoRead(false);
            }
        } catch (WireException e) {
            fail(context, e);
        }
    }

    /**
     * Hands on what is whole; returns whether the buffer has been used up. A frame may end the connection: then the
     * buffer is released already.
     */
    private boolean consume(ChannelHandlerContext context, ByteBuf in) throws WireException {
        while (!ended) {
            if (partial.isReadable()) {
                if (!fillPartial(in)) {
                    return true;
                }
                if (!onFrame(partial, partial.readerIndex(), partialLength)) {
                    return false;
                }
                dropPartial();
            } else if (in.readableBytes() < WireDescriptor.HEADER_LENGTH) {
                keep(context, in);
                return true;
            } else {
                final int length = WireDescriptor.checked(in, in.readerIndex(), this, checksum);
                if (in.readableBytes() < length) {
                    partialLength = length;
                    keep(context, in);
                    return true;
                }
                if (!onFrame(in, in.readerIndex(), length)) {
                    return false;
                }
                if (!ended) {
                    in.skipBytes(length);
                }
            }
        }
        return true;
    }

    /** Takes from the buffer what the frame begun lacks; returns whether it is whole. */
    private boolean fillPartial(ByteBuf in) throws WireException {
        if (partialLength == 0) {
            take(in, WireDescriptor.HEADER_LENGTH);
            if (partial.readableBytes() < WireDescriptor.HEADER_LENGTH) {
                return false;
            }
            partialLength = WireDescriptor.checked(partial, partial.readerIndex(), this, checksum);
        }
        take(in, partialLength);
        return partial.readableBytes() == partialLength;
    }

    private void take(ByteBuf in, int upTo) {
        final int size = Math.min(in.readableBytes(), upTo - partial.readableBytes());
        if (size > 0) {
            partial.writeBytes(in, size);
        }
    }

    private void keep(ChannelHandlerContext context, ByteBuf in) {
        if (in.isReadable()) {
            partial = context.alloc().directBuffer(Math.max(FIRST_CAPACITY, in.readableBytes()));
            partial.writeBytes(in);
        }
    }

    private void dropPartial() {
        partial.release();
        partial = Unpooled.EMPTY_BUFFER;
        partialLength = 0;
        progress = 0;
    }

    /** Ends this connection because of what its peer did. */
    protected final void fail(ChannelHandlerContext context, WireException e) {
        if (!ended) {
            faults.report(e.fault(), context.channel().remoteAddress(), e.text());
            end(context);
        }
    }

    /** Ends this connection. */
    protected final void end(ChannelHandlerContext context) {
        release();
        final var unused = context.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        release();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug("The connection of {} broke", context.channel().remoteAddress(), cause);
        } else {
            LOG.error(
                    "The connection of {} is closed after a failure",
                    context.channel().remoteAddress(),
                    cause);
        }
        end(context);
    }

    private void release() {
        if (ended) {
            return;
        }
        ended = true;
        backlog.forEach(ByteBuf::release);
        backlog.clear();
        dropPartial();
        count();
        onEnd();
    }
}
