package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.tcp.wire.FrameReader;
import org.rowankv.rdma.tcp.wire.WireDescriptor;
import org.rowankv.rdma.tcp.wire.WireException;
import org.rowankv.rdma.tcp.wire.WireFault;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.FaultLog;

/**
 * What the receiver says to the sender's end of a queue pair. Runs on the connection's event loop; the fields are
 * volatile, for the pair's owner. Each is written on one side only.
 */
final class PairReader extends FrameReader {
    private final Channel channel;
    private final Runnable onProgress;
    private final Runnable onEnded;
    private final AtomicReference<@Nullable PairEnd> end = new AtomicReference<>();
    private volatile long acknowledged;
    private volatile long granted;
    private volatile long answered;
    private volatile boolean notReady;
    /** Written by the owner. */
    private volatile long posted;
    /** Written by the owner. */
    private volatile long asked;

    private @Nullable ChannelHandlerContext context;
    private long lastPingNs;

    /**
     * @param onProgress called on the event loop when there is something to poll, or to try again
     * @param onEnded called once, on the event loop
     */
    PairReader(
            Channel channel,
            boolean ready,
            FaultLog<WireFault> faults,
            Clock clock,
            Runnable onProgress,
            Runnable onEnded) {
        super(faults, clock);
        this.channel = channel;
        this.notReady = !ready;
        this.onProgress = onProgress;
        this.onEnded = onEnded;
        this.lastPingNs = clock.nanoTime();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    void posted(long number) {
        posted = number;
    }

    void asked(long inAll) {
        asked = inAll;
    }

    long acknowledged() {
        return acknowledged;
    }

    long granted() {
        return granted;
    }

    /** How much of the credit asked for has been answered. Read before {@link #granted}: the grant is there by then. */
    long answered() {
        return answered;
    }

    boolean isNotReady() {
        return notReady;
    }

    @Nullable
    PairEnd end() {
        return end.get();
    }

    /** Ends the pair from this side. Any thread. */
    void endHere() {
        end.compareAndSet(null, PairEnd.BROKEN);
        final var unused = channel.close();
    }

    @Override
    public int mostPayload(int type) {
        return switch (type) {
            case WireDescriptor.ACK, WireDescriptor.FENCED -> 0;
            default -> -1;
        };
    }

    @Override
    protected boolean onFrame(ByteBuf buffer, int at, int length) throws WireException {
        switch (WireDescriptor.type(buffer, at)) {
            case WireDescriptor.ACK -> onAck(buffer, at);
            default -> onFenced(buffer, at);
        }
        return true;
    }

    private void onAck(ByteBuf buffer, int at) throws WireException {
        final long answeredNow = WireDescriptor.second(buffer, at);
        if (answeredNow < answered || answeredNow > asked) {
            throw new WireException(WireFault.OUT_OF_ORDER, "answers " + answeredNow + " of " + asked);
        }
        onGrant(WireDescriptor.first(buffer, at));
        notReady = (WireDescriptor.flags(buffer, at) & WireDescriptor.NOT_READY) != 0;
        acknowledged = checkedNumber(WireDescriptor.number(buffer, at));
        answered = answeredNow;
    }

    private void onGrant(long inAll) throws WireException {
        if (inAll < granted || inAll > asked) {
            throw new WireException(WireFault.OUT_OF_ORDER, "grants " + inAll + " of " + asked);
        }
        granted = inAll;
    }

    private long checkedNumber(long number) throws WireException {
        if (number < acknowledged || number > posted) {
            throw new WireException(
                    WireFault.OUT_OF_ORDER, "acknowledges " + number + " of " + posted + " after " + acknowledged);
        }
        return number;
    }

    private void onFenced(ByteBuf buffer, int at) throws WireException {
        final long upTo = checkedNumber(WireDescriptor.number(buffer, at));
        final long done = WireDescriptor.second(buffer, at);
        if (done < upTo || done > posted) {
            throw new WireException(WireFault.OUT_OF_ORDER, "fenced at " + done + " of " + posted);
        }
        onGrant(WireDescriptor.first(buffer, at));
        acknowledged = upTo;
        end.compareAndSet(null, new PairEnd(done, true));
        final ChannelHandlerContext here = context;
        if (here != null) {
            end(here);
        }
    }

    @Override
    protected void onBatchEnd() {
        onProgress.run();
    }

    @Override
    protected void onEnd() {
        end.compareAndSet(null, PairEnd.BROKEN);
        onEnded.run();
        onProgress.run();
    }

    /** Has {@link #tick} called where this connection is at home. Any thread. */
    void scheduleTick(long nowNs, long heartbeatNs, long idleNs) {
        if (channel.eventLoop().inEventLoop()) {
            tick(nowNs, heartbeatNs, idleNs);
        } else {
            TcpFabric.execute(channel.eventLoop(), () -> tick(nowNs, heartbeatNs, idleNs));
        }
    }

    /** Looks whether the receiver is still there, and says that this end is. */
    private void tick(long nowNs, long heartbeatNs, long idleNs) {
        final ChannelHandlerContext here = context;
        if (here == null || !channel.isActive()) {
            return;
        }
        if (!endIfQuiet(here, nowNs, idleNs, "as a receiver")
                && nowNs - lastPingNs >= heartbeatNs
                && channel.isWritable()) {
            lastPingNs = nowNs;
            final ByteBuf ping = channel.alloc().directBuffer(WireDescriptor.HEADER_LENGTH);
            WireDescriptor.header(ping, WireDescriptor.PING, 0, 0, 0, 0, 0, 0, checksum);
            final var unused = channel.writeAndFlush(ping, channel.voidPromise());
        }
    }
}
