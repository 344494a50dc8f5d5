package org.rowankv.rdma.leased;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.FaultLog;

/** Sender's end of a connection for leases: receives them for its stream of WRITEs. On the NIC agent's event loop. */
final class LeaseReader extends FrameReader {
    /** Of a segment's number, in a frame. */
    static final int SEGMENT_BITS = 23;

    private static final long SEGMENT_MASK = (1L << SEGMENT_BITS) - 1;

    private final PeerWelcome welcome;
    private final Channel channel;
    private final WriteStream stream;
    private final Runnable onEnded;
    private long nextOrdinal = -1;
    private long requested = LeaseGranter.FIRST;

    /** @param onEnded called once, when the stream has ended */
    LeaseReader(
            PeerWelcome welcome,
            Channel channel,
            WriteStream stream,
            Runnable onEnded,
            FaultLog<WireFault> faults,
            Clock clock) {
        super(faults, clock);
        this.welcome = welcome;
        this.channel = channel;
        this.stream = stream;
        this.onEnded = onEnded;
    }

    /** Requests so many leases since the beginning. */
    void request(long inAll) {
        if (inAll > requested && channel.isActive()) {
            requested = inAll;
            send(channel, PeerFrameDescriptor.LEASE_REQUEST, 0, 0, inAll, 0);
        }
    }

    @Override
    public int longest(int type) {
        return switch (type) {
            case PeerFrameDescriptor.LEASE, PeerFrameDescriptor.PROGRESS_WORD, PeerFrameDescriptor.PING ->
                PeerFrameDescriptor.HEAD_LENGTH;
            default -> -1;
        };
    }

    @Override
    protected boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException {
        final long first = PeerFrameDescriptor.first(buffer, at);
        final long second = PeerFrameDescriptor.second(buffer, at);
        switch (FrameHeadDescriptor.type(buffer, at)) {
            case PeerFrameDescriptor.LEASE -> onLease(FrameHeadDescriptor.number(buffer, at), first, second);
            case PeerFrameDescriptor.PROGRESS_WORD -> stream.begin(first, (int) second);
            default -> {
                // A ping, which has updated the time of the last read.
            }
        }
        return true;
    }

    private void onLease(long number, long remoteAddress, long keyAndGeneration) throws WireException {
        final long ordinal = number >>> SEGMENT_BITS;
        final int segment = (int) (number & SEGMENT_MASK);
        final int generation = (int) keyAndGeneration;
        if (segment >= welcome.segmentCount() || generation == 0 || nextOrdinal >= 0 && ordinal != nextOrdinal) {
            throw new WireException(
                    WireFault.BAD_FRAME,
                    "leases segment " + segment + " as " + ordinal + " after " + (nextOrdinal - 1));
        }
        nextOrdinal = ordinal + 1;
        stream.onLease(new SegmentLease(
                ordinal,
                welcome.segmentBase() + (long) segment * welcome.segmentLength(),
                generation,
                remoteAddress,
                (int) (keyAndGeneration >>> Integer.SIZE)));
    }

    /** Ends the connection. */
    void close() {
        final ChannelHandlerContext here = context();
        if (here != null) {
            end(here);
        }
    }

    @Override
    protected void onBatchEnd() {
        // Workers poll.
    }

    @Override
    protected String describe() {
        return "a receiver that leases segments";
    }

    @Override
    protected void onEnd() {
        stream.end();
        onEnded.run();
    }
}
