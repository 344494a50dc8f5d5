package org.rowankv.rdma.local;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.LandingForce;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.rowan.FrameSealer;
import org.rowankv.runtime.Chaos;

/**
 * One sender of a landing ring. Every operation runs to its end on the calling thread; its completion waits to be
 * polled.
 *
 * <p>A SEND, step by step, the receiver running nothing: read the ring word; name the segment; see the ring word
 * unchanged; ask for permission; help the reservation before; own the place in the hazard word; reserve by
 * compare-and-set on the ring word; ask for permission once more; set the publication word to RESERVED; copy; seal;
 * publish by compare-and-set; clear the hazard word. The thread may stop for any time between any two of these:
 * {@link LandingRing} and {@link LocalReceiveQueue} say why nothing of it lands after a fence.
 *
 * <p>Owned by one worker, except {@link #isFenced}, and the fence and hazard that the receiver's queue looks at. The
 * fabric flushes only if it acknowledges at {@link org.rowankv.rdma.AckLevel#FORCED}: then the sender names what it
 * landed to the receiver's force, and polls no completion before that has answered.
 */
final class LocalQueuePair implements QueuePair {
    private final LocalEndpoint local;
    private final LocalEndpoint remote;
    private final EndpointSettings target;
    private final LandingRing ring;
    private final int maxMessage;
    private final CompletionRing completions;
    /** Of the receiver, if a completion has to wait for its device. */
    private final @Nullable LandingForce force;

    private final FrameSealer sealer = new FrameSealer();
    private final HazardWord hazard = new HazardWord();
    private volatile boolean fenced;
    /** Whether the last posted segment is not for this queue pair. */
    private boolean sparesLast;

    /** What the hazard word names, as it was posted. */
    private long posting;

    private int place;
    /** Strides taken at the place and not published, 0 if none. */
    private int held;

    LocalQueuePair(LocalEndpoint local, LocalEndpoint remote, LocalFabricSettings settings) {
        this.local = local;
        this.remote = remote;
        this.target = remote.settings();
        this.ring = remote.ring();
        this.maxMessage = Math.min(settings.maxMessage(), target.segmentLength());
        this.force = remote.force();
        this.completions = new CompletionRing(settings.completions(), force);
        this.sparesLast = settings.keepsReserve();
    }

    @Override
    public void useReserve() {
        sparesLast = false;
    }

    @Override
    public int send(long context, ByteBuffer source, int offset, int length, int tag) {
        if (length > maxMessage) {
            return PostStatus.TOO_LARGE;
        }
        if (completions.isFull()) {
            return PostStatus.QUEUE_FULL;
        }
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(source, offset));
        if (!FrameDescriptor.isEntryType(type) || length < FrameDescriptor.HEADER_LENGTH) {
            throw new IllegalArgumentException("no entry to send: type " + type + ", length " + length);
        }
        try {
            final int status = reserve(FrameDescriptor.stridesOf(length));
            if (status == PostStatus.POSTED) {
                complete(context, land(source, offset, length, type, tag), length);
            }
            return status;
        } finally {
            release();
        }
    }

    /** What has landed counts once it is on the receiver's device, if acknowledgements wait for that. */
    private void complete(long context, int status, int length) {
        if (force == null || status != CompletionStatus.LANDED) {
            completions.add(context, status);
            return;
        }
        force.flush(ring.address(LandingRing.segment(posting), place), length);
        completions.addForced(context, status, force.request());
    }

    /** Takes the next place of the ring; on POSTED it is in the fields, and the hazard word names its segment. */
    private int reserve(int strides) {
        for (; ; ) {
            if (fenced) {
                return PostStatus.FENCED;
            }
            Chaos.point("local.before-read");
            final long found = ring.word();
            final int ordinal = RingWord.ordinal(found);
            if (ring.awaitsPosting(ordinal) || sparesLast && ring.awaitsPosting(RingWord.next(ordinal))) {
                return PostStatus.RECEIVER_NOT_READY;
            }
            Chaos.point("local.after-read");
            if (!nameSegment(ordinal, found)) {
                continue;
            }
            if (fenced) {
                return PostStatus.FENCED;
            }
            Chaos.point("local.after-permission");
            ring.help(found, posting);
            Chaos.point("local.after-help");
            final long next;
            if (RingWord.tail(found) + strides <= ring.segmentStrides()) {
                place = RingWord.tail(found);
                next = RingWord.reserved(found, strides);
            } else {
                final int following = RingWord.next(ordinal);
                if (ring.awaitsPosting(following) || sparesLast && ring.awaitsPosting(RingWord.next(following))) {
                    return PostStatus.RECEIVER_NOT_READY;
                }
                if (!nameSegment(following, found)) {
                    continue;
                }
                place = 0;
                next = RingWord.moved(found, strides);
            }
            hazard.own(LandingRing.segment(posting), place);
            Chaos.point("local.after-hazard");
            if (ring.compareAndSet(found, next)) {
                held = strides;
                return PostStatus.POSTED;
            }
            // Ends: the word has changed, so that another sender, or the receiver, got on.
            Thread.onSpinWait();
        }
    }

    /** Names the segment of the ordinal; returns false if the ring word has changed, and the segment may be gone. */
    private boolean nameSegment(int ordinal, long found) {
        posting = ring.posting(ordinal);
        hazard.name(LandingRing.segment(posting));
        Chaos.point("local.after-name");
        return ring.word() == found;
    }

    /** Fills the place that was reserved; returns the status of its completion. */
    private int land(ByteBuffer source, int offset, int length, int type, int tag) {
        Chaos.point("local.after-reserve");
        final int segment = LandingRing.segment(posting);
        final int generation = LandingRing.generation(posting);
        final ByteBuffer buffer = ring.buffer(segment);
        final int at = ring.offset(segment, place);
        final int strides = FrameDescriptor.stridesOf(length);
        if (!FrameDescriptor.reserve(buffer, at, generation, strides) || fenced) {
            return notLanded();
        }
        Chaos.point("local.after-word");
        copyBody(buffer, at, source, offset, length);
        Chaos.point("local.before-publish");
        final int bodyCrc = FrameDescriptor.bodyCrc(source, offset);
        final long address = ring.address(segment, place);
        if (!sealer.publish(buffer, at, address, generation, length, type, bodyCrc, tag, 0)) {
            return notLanded();
        }
        held = 0;
        Chaos.point("local.after-publish");
        return CompletionStatus.LANDED;
    }

    private static void copyBody(ByteBuffer buffer, int at, ByteBuffer source, int offset, int length) {
        final int header = FrameDescriptor.HEADER_LENGTH;
        final int size = length - header;
        if (Chaos.ENABLED) {
            final int half = size / 2;
            buffer.put(at + header, source, offset + header, half);
            Chaos.point("local.mid-copy");
            buffer.put(at + header + half, source, offset + header + half, size - half);
        } else {
            buffer.put(at + header, source, offset + header, size);
        }
    }

    private int notLanded() {
        return fenced ? CompletionStatus.FENCED : CompletionStatus.VOIDED;
    }

    /** Voids a place that was taken and not filled, whatever the reason, and clears the hazard word. */
    private void release() {
        if (held != 0) {
            ring.abandon(LandingRing.segment(posting), place, held, LandingRing.generation(posting));
            held = 0;
        }
        hazard.clear();
    }

    @Override
    public int poll(CompletionHandler handler, int limit) {
        return completions.poll(handler, limit);
    }

    @Override
    public long acquireCredit(long wanted) {
        return fenced ? 0 : target.credit().draw(wanted);
    }

    @Override
    public void giveBackCredit(long bytes) {
        if (!remote.isClosed()) {
            target.credit().giveBack(bytes);
        }
    }

    @Override
    public boolean isFenced() {
        return fenced;
    }

    @Override
    public int remoteServerId() {
        return target.serverId();
    }

    /** The server that sends. */
    int senderId() {
        return local.settings().serverId();
    }

    /** Whether this pair lands in that ring, and not in one of a former incarnation. */
    boolean isOn(LandingRing other) {
        return ring == other;
    }

    HazardWord hazard() {
        return hazard;
    }

    /** Takes the permission away. The receiver's queue goes on to raise the epoch. */
    void markFenced() {
        fenced = true;
    }

    @Override
    public void close() {
        fenced = true;
        local.forget(this);
        remote.queue().forget(this);
    }
}
