package org.rowankv.rdma.leased;

import io.netty.channel.Channel;
import java.nio.ByteBuffer;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.channel.OneSidedChannel;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.FaultLog;

/**
 * Receiver's end of a connection for leases: grants what its sender requests, which is a sum since the beginning. On the
 * NIC agent's event loop.
 */
final class LeaseGranter extends FrameReader {
    /** Leases from the beginning: the one being written, and the next. */
    static final int FIRST = 2;
    /** Leases without end of writing that a sender may have: it requests the third in the last quarter of the first. */
    static final int MOST = 3;

    private final LeasedQueue queue;
    private final LeasedLane lane;
    private final PeerHello peer;
    private final OneSidedChannel channel;
    private final long firstOrdinal;
    private long requested = FIRST;
    private long granted;

    LeaseGranter(
            LeasedQueue queue,
            LeasedLane lane,
            PeerHello peer,
            Channel channel,
            FaultLog<WireFault> faults,
            Clock clock) {
        super(faults, clock);
        this.queue = queue;
        this.lane = lane;
        this.peer = peer;
        this.channel = (OneSidedChannel) channel;
        this.firstOrdinal = lane.firstUnused();
    }

    int serverId() {
        return peer.from();
    }

    /** Whether its process opened it after that one, whose hello came late: it has given that one up. */
    boolean isLaterThan(PeerHello other) {
        return other.incarnation() == peer.incarnation() && other.pair() < peer.pair();
    }

    LeasedLane lane() {
        return lane;
    }

    boolean isOwed() {
        return granted < requested;
    }

    /** Whether the next lease is one that an earlier connection did not write to. */
    boolean isKept() {
        return firstOrdinal + granted < lane.postedCount();
    }

    /** Grants the next segment of the lane. */
    void grant(long remoteAddress, int remoteKey) {
        final long ordinal = firstOrdinal + granted;
        Chaos.point("leased.granted");
        granted++;
        send(
                channel,
                PeerFrameDescriptor.LEASE,
                0,
                ordinal << LeaseReader.SEGMENT_BITS | lane.segmentAt(ordinal),
                remoteAddress,
                (long) remoteKey << Integer.SIZE | (lane.generationAt(ordinal) & 0xFFFF_FFFFL));
    }

    long nextOrdinal() {
        return firstOrdinal + granted;
    }

    void sendWord(long remoteAddress, int remoteKey) {
        send(channel, PeerFrameDescriptor.PROGRESS_WORD, 0, 0, remoteAddress, remoteKey & 0xFFFF_FFFFL);
    }

    /** On return the sender's WRITEs have ended. */
    void abort() {
        channel.abort();
    }

    @Override
    public int longest(int type) {
        return type == PeerFrameDescriptor.LEASE_REQUEST || type == PeerFrameDescriptor.PING
                ? PeerFrameDescriptor.HEAD_LENGTH
                : -1;
    }

    @Override
    protected boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException {
        if (FrameHeadDescriptor.type(buffer, at) == PeerFrameDescriptor.LEASE_REQUEST) {
            final long inAll = PeerFrameDescriptor.first(buffer, at);
            final long used = Math.max(0, lane.currentOrdinal() - firstOrdinal);
            // What it has filled since may be on its way.
            if (inAll < requested || inAll > used + 2 * MOST) {
                throw new WireException(WireFault.BEYOND_ITS_WINDOW, inAll + " leases, of which it has filled " + used);
            }
            requested = inAll;
            queue.grant();
        }
        return true;
    }

    @Override
    protected void onBatchEnd() {
        // No thread waits for it.
    }

    @Override
    protected String describe() {
        return "server " + serverId() + ", leases";
    }

    @Override
    protected void onEnd() {
        queue.ended(this);
    }
}
