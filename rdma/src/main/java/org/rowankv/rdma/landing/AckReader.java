package org.rowankv.rdma.landing;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.FaultLog;

/**
 * Reader of the receiver's frames at the sender's end of a queue pair. Runs on the connection's event loop; volatile
 * fields publish to the pair's owner. Each field has one writer.
 */
final class AckReader extends FrameReader {
    private final Channel channel;
    private final Runnable onProgress;
    private final Runnable onEnded;
    private final AtomicReference<@Nullable QueuePairEnd> end = new AtomicReference<>();
    private volatile long acknowledged;
    private volatile long granted;
    private volatile long answered;
    private volatile boolean notReady;
    /** Published by the end. */
    private long endedConnection;

    private long endedAt;
    /** Written by the owner. */
    private volatile long posted;
    /** Written by the owner. */
    private volatile long asked;

    /**
     * @param onProgress called on the event loop when the owner may poll or retry
     * @param onEnded called on the event loop before the end is visible, and perhaps again
     */
    AckReader(
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

    /** Requested credit that has a response. Read before {@link #granted}, which is written first. */
    long answered() {
        return answered;
    }

    boolean isNotReady() {
        return notReady;
    }

    /** After the end: as {@link SegmentLeases#endedConnection}, at the receiver. */
    long endedConnection() {
        return endedConnection;
    }

    /** After the end: as {@link SegmentLeases#endedAt}. */
    long endedAt() {
        return endedAt;
    }

    @Nullable
    QueuePairEnd end() {
        return end.get();
    }

    /** Ends the pair from this side. Any thread. */
    void endHere() {
        end.compareAndSet(null, QueuePairEnd.BROKEN);
        final var unused = channel.close();
    }

    @Override
    public int longest(int type) {
        return switch (type) {
            case PeerFrameDescriptor.ACK, PeerFrameDescriptor.FENCED, PeerFrameDescriptor.FENCED_AT ->
                PeerFrameDescriptor.HEAD_LENGTH;
            default -> -1;
        };
    }

    @Override
    protected boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException {
        switch (FrameHeadDescriptor.type(buffer, at)) {
            case PeerFrameDescriptor.ACK -> onAck(buffer, at);
            case PeerFrameDescriptor.FENCED_AT -> {
                endedConnection = FrameHeadDescriptor.number(buffer, at);
                endedAt = PeerFrameDescriptor.first(buffer, at);
            }
            default -> onFenced(buffer, at);
        }
        return true;
    }

    private void onAck(ByteBuffer buffer, int at) throws WireException {
        final long answeredNow = PeerFrameDescriptor.second(buffer, at);
        if (answeredNow < answered || answeredNow > asked) {
            throw new WireException(WireFault.OUT_OF_ORDER, "answers " + answeredNow + " of " + asked);
        }
        onGrant(PeerFrameDescriptor.first(buffer, at));
        notReady = (FrameHeadDescriptor.flags(buffer, at) & PeerFrameDescriptor.NOT_READY) != 0;
        acknowledged = checkedNumber(FrameHeadDescriptor.number(buffer, at));
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

    private void onFenced(ByteBuffer buffer, int at) throws WireException {
        final long upTo = checkedNumber(FrameHeadDescriptor.number(buffer, at));
        final long done = PeerFrameDescriptor.second(buffer, at);
        if (done < upTo || done > posted) {
            throw new WireException(WireFault.OUT_OF_ORDER, "fenced at " + done + " of " + posted);
        }
        onGrant(PeerFrameDescriptor.first(buffer, at));
        acknowledged = upTo;
        onEnded.run(); // first: the owner's next connection must not call this pair live
        end.compareAndSet(null, new QueuePairEnd(done, true));
        final ChannelHandlerContext here = context();
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
        onEnded.run();
        end.compareAndSet(null, QueuePairEnd.BROKEN);
        onProgress.run();
    }

    /** Triggers {@link #tick} on the connection's event loop. Any thread. */
    void scheduleTick(long nowNs, long heartbeatNs, long idleNs) {
        if (channel.eventLoop().inEventLoop()) {
            tick(nowNs, heartbeatNs, idleNs);
        } else {
            LandingFabric.execute(channel.eventLoop(), () -> tick(nowNs, heartbeatNs, idleNs));
        }
    }

    @Override
    protected String describe() {
        return "as a receiver";
    }
}
