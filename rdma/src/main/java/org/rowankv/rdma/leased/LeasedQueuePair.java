package org.rowankv.rdma.leased;

import java.nio.ByteBuffer;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.landing.LandingQueuePair;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;

/**
 * A worker's share in the stream of WRITEs to a server. Its own connection carries credit, and the end: only the receiver
 * says which entries a fence was too late for.
 *
 * <p>An entry has landed once a READ behind it has completed, or if the receiver tells a position behind it. Owned by one
 * worker, except {@link #isFenced}.
 */
final class LeasedQueuePair implements QueuePair, WriteStream.Appended {
    private final LandingQueuePair pair;
    private final WriteStream stream;
    private final Runnable onClosed;
    private final int maxMessage;
    private final int capacity;
    private final long[] contexts;
    private final long[] sequences;
    private final long[] positions;
    private boolean usesReserve;
    private long added;
    private long polled;

    /**
     * @param completions operations in flight; a power of two
     * @param usesReserve whether its entries may be in the last lease from the beginning
     * @param onClosed called first when its owner closes it
     */
    LeasedQueuePair(
            LandingQueuePair pair, WriteStream stream, int completions, boolean usesReserve, Runnable onClosed) {
        this.onClosed = onClosed;
        this.pair = pair;
        this.stream = stream;
        this.maxMessage = pair.maxMessage();
        this.capacity = completions;
        this.contexts = new long[completions];
        this.sequences = new long[completions];
        this.positions = new long[completions];
        this.usesReserve = usesReserve;
    }

    @Override
    public void useReserve() {
        usesReserve = true;
    }

    @Override
    public int send(long context, ByteBuffer source, int offset, int length, int tag) {
        if (length > maxMessage) {
            return PostStatus.TOO_LARGE;
        }
        if (isFenced()) {
            return PostStatus.FENCED;
        }
        if (added - polled >= capacity) {
            stream.ring();
            return PostStatus.QUEUE_FULL;
        }
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(source, offset));
        if (!FrameDescriptor.isEntryType(type) || length < FrameDescriptor.HEADER_LENGTH) {
            throw new IllegalArgumentException("no entry to send: type " + type + ", length " + length);
        }
        contexts[(int) (added & (capacity - 1))] = context;
        return stream.append(source, offset, length, type, tag, usesReserve, this);
    }

    @Override
    public void onAppended(long sequence, long position) {
        final int slot = (int) (added & (capacity - 1));
        sequences[slot] = sequence;
        positions[slot] = position;
        added++;
    }

    @Override
    public int poll(CompletionHandler handler, int limit) {
        if (polled != added) {
            stream.ring();
        }
        int count = pair.poll(handler, 0); // its frames
        while (count < limit && polled != added) {
            final int slot = (int) (polled & (capacity - 1));
            // The end first: no READ completes behind it.
            final boolean isFenced = pair.isFenced();
            final int status;
            if (sequences[slot] <= stream.completed()) {
                status = CompletionStatus.LANDED;
            } else if (isFenced) {
                status = statusAtEnd(positions[slot]);
            } else {
                break;
            }
            polled++;
            count++;
            handler.onCompletion(contexts[slot], status);
        }
        return count;
    }

    private int statusAtEnd(long position) {
        final long landed = pair.landedOf(stream.number());
        if (landed < 0) {
            Chaos.point("leased.end-unknown");
            return CompletionStatus.UNKNOWN;
        }
        Chaos.point(position <= landed ? "leased.end-landed" : "leased.end-fenced");
        return position <= landed ? CompletionStatus.LANDED : CompletionStatus.FENCED;
    }

    @Override
    public long acquireCredit(long requested) {
        return pair.acquireCredit(requested);
    }

    @Override
    public boolean awaitsCredit() {
        return pair.awaitsCredit();
    }

    @Override
    public void returnCredit(long bytes) {
        pair.returnCredit(bytes);
    }

    @Override
    public boolean isFenced() {
        return pair.isFenced() || stream.isEnded();
    }

    @Override
    public int remoteServerId() {
        return pair.remoteServerId();
    }

    /** Operations in flight have no outcome; they may land. */
    @Override
    public void close() {
        if (polled != added) {
            stream.ring();
        }
        onClosed.run();
        pair.close();
    }
}
