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
 * One sender of a landing ring. Every operation completes on the calling thread; its completion is polled later.
 *
 * <p>Steps of a SEND, without any code of the receiver: read the ring word; name the segment; check that the ring word
 * is unchanged; check the permission; help the previous reservation; own the slot in the hazard word; reserve by
 * compare-and-set on the ring word; check the permission again; set the publication word to RESERVED; copy; seal;
 * publish by compare-and-set; clear the hazard word. The thread may stop for any time between any two of these: {@link
 * LandingRing} and {@link LocalReceiveQueue} state why nothing of it lands after a fence.
 *
 * <p>Owned by one worker, except {@link #isFenced}, and the fence and hazard that the receiver's queue reads. The
 * fabric flushes only if it acknowledges at {@link org.rowankv.rdma.AckLevel#FORCED}: then the sender registers its
 * landed bytes with the receiver's force, and polls no completion before that is complete.
 */
final class LocalQueuePair implements QueuePair {
    private final LocalEndpoint local;
    private final LocalEndpoint remote;
    private final EndpointSettings target;
    private final LandingRing ring;
    private final int maxMessage;
    private final CompletionRing completions;
    /** Of the receiver, if completions wait for its device. */
    private final @Nullable LandingForce force;

    private final FrameSealer sealer = new FrameSealer();
    private final HazardWord hazard = new HazardWord();
    private volatile boolean fenced;
    /** Whether the last posted segment is reserved for other queue pairs. */
    private boolean excludesReserve;

    /** Posting of the segment in the hazard word. */
    private long posting;

    private int slot;
    /** Strides reserved at the slot and not published, 0 if none. */
    private int heldStrides;

    LocalQueuePair(LocalEndpoint local, LocalEndpoint remote, LocalFabricSettings settings) {
        this.local = local;
        this.remote = remote;
        this.target = remote.settings();
        this.ring = remote.ring();
        this.maxMessage = Math.min(settings.maxMessage(), target.segmentLength());
        this.force = remote.force();
        this.completions = new CompletionRing(settings.completions(), force);
        this.excludesReserve = settings.keepsReserve();
    }

    @Override
    public void useReserve() {
        excludesReserve = false;
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

    /** Adds the completion of a send; a landed one waits for the receiver's device, if acknowledgements do. */
    private void complete(long context, int status, int length) {
        if (force == null || status != CompletionStatus.LANDED) {
            completions.add(context, status);
            return;
        }
        final long padded = (long) FrameDescriptor.stridesOf(length) * FrameDescriptor.STRIDE;
        force.flush(ring.address(LandingRing.segment(posting), slot), padded);
        completions.addForced(context, status, force.request());
    }

    /** Reserves the next slot of the ring; on POSTED it is in the fields, and the hazard word names its segment. */
    private int reserve(int strides) {
        for (; ; ) {
            if (fenced) {
                return PostStatus.FENCED;
            }
            Chaos.point("local.before-read");
            final long found = ring.word();
            final int ordinal = RingWord.ordinal(found);
            if (ring.awaitsPosting(ordinal) || excludesReserve && ring.awaitsPosting(RingWord.next(ordinal))) {
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
                slot = RingWord.tail(found);
                next = RingWord.reserved(found, strides);
            } else {
                final int following = RingWord.next(ordinal);
                if (ring.awaitsPosting(following) || excludesReserve && ring.awaitsPosting(RingWord.next(following))) {
                    return PostStatus.RECEIVER_NOT_READY;
                }
                if (!nameSegment(following, found)) {
                    continue;
                }
                slot = 0;
                next = RingWord.moved(found, strides);
            }
            hazard.own(LandingRing.segment(posting), slot);
            Chaos.point("local.after-hazard");
            if (ring.compareAndSet(found, next)) {
                heldStrides = strides;
                return PostStatus.POSTED;
            }
            // Ends: the word has changed, so another sender or the receiver made progress.
            Thread.onSpinWait();
        }
    }

    /** Names the segment of the ordinal; false if the ring word has changed, and the segment may be gone. */
    private boolean nameSegment(int ordinal, long found) {
        posting = ring.posting(ordinal);
        hazard.name(LandingRing.segment(posting));
        Chaos.point("local.after-name");
        return ring.word() == found;
    }

    /** Fills the reserved slot; returns the status of its completion. */
    private int land(ByteBuffer source, int offset, int length, int type, int tag) {
        Chaos.point("local.after-reserve");
        final int segment = LandingRing.segment(posting);
        final int generation = LandingRing.generation(posting);
        final ByteBuffer buffer = ring.buffer(segment);
        final int at = ring.offset(segment, slot);
        final int strides = FrameDescriptor.stridesOf(length);
        final long address = ring.address(segment, slot);
        if (!FrameDescriptor.reserve(buffer, at, address, generation, strides) || fenced) {
            return notLanded();
        }
        Chaos.point("local.after-word");
        copyBody(buffer, at, source, offset, length);
        Chaos.point("local.before-publish");
        final int bodyCrc = FrameDescriptor.bodyCrc(source, offset);
        if (!sealer.publish(buffer, at, address, generation, length, type, bodyCrc, tag, 0)) {
            return notLanded();
        }
        heldStrides = 0;
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

    /** Voids a reserved slot that was not filled, whatever the reason, and clears the hazard word. */
    private void release() {
        if (heldStrides != 0) {
            ring.abandon(LandingRing.segment(posting), slot, heldStrides, LandingRing.generation(posting));
            heldStrides = 0;
        }
        hazard.clear();
    }

    @Override
    public int poll(CompletionHandler handler, int limit) {
        return completions.poll(handler, limit);
    }

    @Override
    public long acquireCredit(long requested) {
        return fenced ? 0 : target.credit().acquire(requested);
    }

    @Override
    public void returnCredit(long bytes) {
        if (!remote.isClosed()) {
            target.credit().release(bytes);
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

    /** The sending server. */
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

    /** Revokes the permission. The receiver's queue then raises the epoch. */
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
