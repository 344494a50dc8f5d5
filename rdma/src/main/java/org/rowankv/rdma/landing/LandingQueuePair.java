package org.rowankv.rdma.landing;

import io.netty.channel.Channel;
import java.nio.ByteBuffer;
import org.rowankv.protocol.frame.WireChecksum;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.rdma.rowan.FrameDescriptor;

/**
 * Sender's end of one connection. Posts are copied into a batch; polling rings the doorbell. Acknowledgements arrive on
 * the connection's event loop, which may be the owner's own, and are delivered when the owner polls.
 *
 * <p>Owned by one worker, except {@link #isFenced}. The event loop publishes to the owner through volatile fields of
 * {@link AckReader}, each of which only grows.
 */
public final class LandingQueuePair implements QueuePair {
    /** Least capacity of a batch for posts, in bytes. */
    private static final int BATCH_LENGTH = 64 << 10;

    private final LandingEndpoint endpoint;
    private final int remoteServerId;
    private final long number;
    private final int maxMessage;
    private final AckReader reader;
    private final InFlightRing ring;
    private final SendBatcher batches;
    private final WireChecksum checksum = new WireChecksum();
    private long posted;
    private long asked;
    private long claimed;
    private long returned;
    private long returnedTold;
    private boolean questionOpen;
    private boolean awaitsCredit;
    private boolean needsReserve;
    private boolean closed;

    LandingQueuePair(
            LandingEndpoint endpoint,
            int remoteServerId,
            long number,
            PeerWelcome remote,
            int maxMessage,
            Channel channel,
            AckReader reader,
            InFlightRing ring) {
        this.endpoint = endpoint;
        this.remoteServerId = remoteServerId;
        this.number = number;
        this.maxMessage = Math.min(maxMessage, remote.segmentLength());
        this.reader = reader;
        this.ring = ring;
        this.batches = new SendBatcher(channel, PeerFrameDescriptor.HEAD_LENGTH + Math.max(BATCH_LENGTH, maxMessage));
    }

    @Override
    public void useReserve() {
        needsReserve = true;
        control();
        batches.ring();
    }

    @Override
    public int send(long context, ByteBuffer source, int offset, int length, int tag) {
        if (length > maxMessage) {
            return PostStatus.TOO_LARGE;
        }
        if (isFenced()) {
            return PostStatus.FENCED;
        }
        control();
        // First: the operations that fill the queue may be those that wait for a segment.
        if (reader.isNotReady()) {
            batches.ring();
            return PostStatus.RECEIVER_NOT_READY;
        }
        if (!ring.hasRoom()) {
            batches.ring();
            return PostStatus.QUEUE_FULL;
        }
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(source, offset));
        if (!FrameDescriptor.isEntryType(type) || length < FrameDescriptor.HEADER_LENGTH) {
            throw new IllegalArgumentException("no entry to send: type " + type + ", length " + length);
        }
        final int payload = length - FrameDescriptor.HEADER_LENGTH;
        if (!batches.claim(PeerFrameDescriptor.HEAD_LENGTH + payload)) {
            return PostStatus.QUEUE_FULL;
        }
        final ByteBuffer view = batches.view();
        final int at = batches.at();
        view.put(at + PeerFrameDescriptor.HEAD_LENGTH, source, offset + FrameDescriptor.HEADER_LENGTH, payload);
        final int bodyCrc = FrameDescriptor.bodyCrc(source, offset);
        PeerFrameDescriptor.head(
                view,
                at,
                PeerFrameDescriptor.SEND,
                0,
                payload,
                tag,
                posted + 1,
                bodyCrc & 0xFFFF_FFFFL,
                type,
                checksum);
        batches.filled(PeerFrameDescriptor.HEAD_LENGTH + payload);
        posted++;
        ring.add(context);
        reader.posted(posted);
        return PostStatus.POSTED;
    }

    /** A frame without payload, for which space was claimed. */
    private void frame(int type, long sequence, long first, long second) {
        PeerFrameDescriptor.head(batches.view(), batches.at(), type, 0, 0, 0, sequence, first, second, checksum);
        batches.filled(PeerFrameDescriptor.HEAD_LENGTH);
    }

    /** Sends frames that were deferred for lack of space. */
    private void control() {
        if (needsReserve && !isFenced() && batches.claim(PeerFrameDescriptor.HEAD_LENGTH)) {
            needsReserve = false;
            frame(PeerFrameDescriptor.USE_RESERVE, 0, 0, 0);
        }
        if (returned != returnedTold && !isFenced() && batches.claim(PeerFrameDescriptor.HEAD_LENGTH)) {
            returnedTold = returned;
            frame(PeerFrameDescriptor.CREDIT_RETURN, 0, returned, 0);
        }
    }

    @Override
    public int poll(CompletionHandler handler, int limit) {
        if (!isFenced()) {
            control();
            batches.ring();
        }
        return ring.poll(handler, limit, reader);
    }

    @Override
    public long acquireCredit(long requested) {
        if (isFenced()) {
            awaitsCredit = true; // on the next connection
            return 0;
        }
        final long answered = reader.answered();
        final long here = Math.min(requested, reader.granted() - claimed);
        claimed += here;
        if (questionOpen) {
            // One request at a time: the response may be on its way, and is returned first.
            questionOpen = asked != answered;
            awaitsCredit = questionOpen;
        } else {
            awaitsCredit = here < requested;
            if (awaitsCredit && batches.claim(PeerFrameDescriptor.HEAD_LENGTH)) {
                questionOpen = true;
                asked += requested - here;
                reader.asked(asked);
                frame(PeerFrameDescriptor.CREDIT_REQUEST, 0, requested - here, 0);
            }
        }
        batches.ring();
        return here;
    }

    @Override
    public boolean awaitsCredit() {
        return awaitsCredit;
    }

    @Override
    public void returnCredit(long bytes) {
        // Includes unclaimed grants: returning credit need not wait for anything.
        final long unclaimed = reader.granted() - claimed;
        claimed += unclaimed;
        returned += bytes + unclaimed;
        if (isFenced()) {
            settle();
        } else {
            control();
            batches.ring();
        }
    }

    /** Returns unclaimed and returned credit to the receiver, whatever the state of the connection. */
    private void settle() {
        final long granted = reader.granted();
        if (asked > 0) {
            endpoint.settle(remoteServerId, number, granted, returned + granted - claimed);
        }
    }

    @Override
    public boolean isFenced() {
        return reader.end() != null;
    }

    /**
     * Once it is fenced: the position up to which entries of that connection for leases landed, and beyond which none has
     * or will; −1 if it is unknown.
     */
    public long landedOf(long connection) {
        return isFenced() && reader.endedConnection() == connection ? reader.endedAt() : -1;
    }

    /** Longest entry that both ends allow, in bytes. */
    public int maxMessage() {
        return maxMessage;
    }

    @Override
    public int remoteServerId() {
        return remoteServerId;
    }

    long number() {
        return number;
    }

    /** Ends the pair; operations in flight may or may not land. Any thread. */
    void cutOff() {
        reader.endHere();
    }

    /** Operations in flight complete as UNKNOWN. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (!isFenced()) {
            batches.ring();
        }
        reader.endHere();
        endpoint.forget(this);
        settle();
        batches.release();
    }
}
