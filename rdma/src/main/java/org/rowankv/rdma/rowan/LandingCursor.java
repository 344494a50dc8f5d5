package org.rowankv.rdma.rowan;

import java.nio.ByteBuffer;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.LandingLane;
import org.rowankv.rdma.ReceiveQueue;

/**
 * Cursor over the landings of one lane, in order, up to the first gap.
 *
 * <p>It stops at the tail, and at a hole: an unpublished reservation. It skips void slots. A word is valid only where
 * the lane reports reserved space, or, in a closed segment, where no frame of the use ends elsewhere. It neither
 * checks crcs nor prevents the reuse of segments: the owner that frees them tracks its cursors.
 *
 * <p>Owned by one agent. Reads the lane's shared words once per run of entries, not per entry.
 */
public final class LandingCursor {
    private final EndpointSettings settings;
    private final LandingLane lane;
    private long ordinal;
    private int offset;
    /** Up to here space is known to be reserved; the whole segment once it is closed. */
    private int known;

    private boolean closed;
    private boolean atHole;
    private boolean holeTimed;
    private long holeSinceNs;

    public LandingCursor(EndpointSettings settings, LandingLane lane) {
        this.settings = settings;
        this.lane = lane;
        this.ordinal = lane.firstOrdinal();
    }

    /** Continues at that position, where a frame begins or the segment ends. */
    public void position(long newOrdinal, int newOffset) {
        ordinal = newOrdinal;
        offset = newOffset;
        known = 0;
        closed = false;
        leaveHole();
    }

    public long ordinal() {
        return ordinal;
    }

    /** Offset of the next frame in the segment. */
    public int offset() {
        return offset;
    }

    /** Passes up to {@code limit} frames and closed segments to the handler; returns their number. */
    public int poll(LandingHandler handler, int limit) {
        int count = 0;
        while (count < limit && ordinal < lane.postedCount()) {
            final int segment = lane.segmentAt(ordinal);
            final int read = pollSegment(handler, limit - count, segment);
            count += read;
            if (!closed || !atEnd(segment)) {
                return count;
            }
            if (count == limit) {
                break;
            }
            handler.onSegmentClosed(ordinal, segment);
            count++;
            position(ordinal + 1, 0);
        }
        return count;
    }

    private int pollSegment(LandingHandler handler, int limit, int segment) {
        final int generation = lane.generationAt(ordinal);
        final long base = settings.segmentAddress(segment);
        final ByteBuffer buffer = settings.region().buffer(base);
        final int start = settings.region().offset(base);
        int count = 0;
        while (count < limit && isKnown()) {
            final long word = FrameDescriptor.wordAcquire(buffer, start + offset);
            final int type = FrameDescriptor.type(word);
            if (FrameDescriptor.generation(word) != generation || type == FrameDescriptor.RESERVED) {
                // In a closed segment every reservation has its word, so the first case there is the end.
                atHole = !closed || type == FrameDescriptor.RESERVED && FrameDescriptor.generation(word) == generation;
                return count;
            }
            leaveHole();
            final int length = FrameDescriptor.length(word);
            if (type != FrameDescriptor.VOID) {
                handler.onFrame(segment, base + offset, type, length);
                count++;
            }
            offset += length;
        }
        return count;
    }

    /** Whether space is or may be reserved at the cursor, in a closed segment. */
    private boolean isKnown() {
        if (offset >= known && !closed) {
            closed = lane.isClosed(ordinal);
            known = closed ? settings.segmentLength() : lane.landedLimit(ordinal);
        }
        return offset < known;
    }

    /** Whether a closed segment has no more to read. */
    private boolean atEnd(int segment) {
        if (offset >= settings.segmentLength()) {
            return true;
        }
        final long base = settings.segmentAddress(segment);
        final long word = FrameDescriptor.wordAcquire(
                settings.region().buffer(base), settings.region().offset(base) + offset);
        return FrameDescriptor.generation(word) != lane.generationAt(ordinal);
    }

    private void leaveHole() {
        atHole = false;
        holeTimed = false;
    }

    /** Whether the last poll ended at an unpublished reservation. */
    public boolean isAtHole() {
        return atHole;
    }

    /**
     * How long the cursor has been at this hole, since the first call that found it there; 0 if it is not at one.
     * {@link ReceiveQueue#fenceHole} ends a hole that is too old.
     */
    public long holeAgeNs(long nowNs) {
        if (!atHole) {
            return 0;
        }
        if (!holeTimed) {
            holeTimed = true;
            holeSinceNs = nowNs;
        }
        return nowNs - holeSinceNs;
    }
}
