package org.rowankv.server.log;

import java.nio.ByteBuffer;
import java.util.function.IntPredicate;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.rowan.FrameSealer;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.durability.ForceFailedException;

/**
 * A log with one writing agent: a worker's t-log, or the log of copies of a cleaner or digest. Owned by that agent.
 * Readers of the log see an entry by its publication word, which is stored last.
 *
 * <p>An append has two steps, so that it cannot fail: {@link #ensureRoom} may fail, the following {@link #append} does
 * not.
 */
public final class AppendLog {
    private final Segments segments;
    private final SegmentOwner owner;
    private int keepFree;
    private final IntPredicate underWay;
    private final FrameSealer sealer = new FrameSealer();
    private int segment = -1;
    private int opening = -1;
    /** A segment that is full or retired, and not closed yet. */
    private int closing = -1;

    private int closingCharge;
    /** Covers all writes to the closing segment. */
    private long closingTicket;

    private long base;
    private int position;
    private int charged;
    private int generation;
    /** Of the open segment. */
    private long sequence;

    private long bytesWritten;

    public AppendLog(Segments segments, SegmentOwner owner) {
        this(segments, owner, owner == SegmentOwner.CLEAN ? 0 : segments.cleanerReserve());
    }

    /** @param keepFree free segments that it leaves to others */
    public AppendLog(Segments segments, SegmentOwner owner, int keepFree) {
        this(segments, owner, keepFree, unused -> false);
    }

    /**
     * @param underWay whether an entry in that segment may be missing on a replica; until it is false the segment is
     *     not closed
     */
    public AppendLog(Segments segments, SegmentOwner owner, IntPredicate underWay) {
        this(segments, owner, segments.cleanerReserve(), underWay);
    }

    private AppendLog(Segments segments, SegmentOwner owner, int keepFree, IntPredicate underWay) {
        this.underWay = underWay;
        this.segments = segments;
        this.owner = owner;
        this.keepFree = keepFree;
    }

    /**
     * Allows the log one of the cleaner's segments, if one stays for the cleaner. Only for a log of entries that end
     * something: in a store full of live entries, the cleaner can free nothing before something ends.
     */
    public void takesOfReserve() {
        keepFree = Math.min(keepFree, Math.max(1, keepFree - 1));
    }

    /** Whether {@code length} bytes, a whole number of strides, fit next; opens a segment if needed. */
    public boolean ensureRoom(int length) {
        if (segment >= 0 && position + length <= segments.length()) {
            return true;
        }
        return openNext(0, keepFree);
    }

    /**
     * As {@link #ensureRoom}, for an entry that begins something: leaves one more segment free for entries that end
     * something.
     */
    public boolean ensureRoomToBegin(int length) {
        if (segment >= 0 && position + length <= segments.length()) {
            return true;
        }
        return openNext(0, keepFree + 1);
    }

    /** As {@link #ensureRoom}, for content whose sources have that smallest horizon. */
    public boolean ensureRoom(int length, long horizon) {
        if (segment >= 0 && position + length <= segments.length()) {
            segments.lowerHorizon(segment, horizon);
            return true;
        }
        return openNext(horizon, keepFree);
    }

    // An error may strike anywhere in these: each step is recorded before the next, and the next caller repeats it if
    // needed.

    private boolean openNext(long horizon, int keep) {
        retire();
        if (segment >= 0) {
            return false;
        }
        if (opening < 0) {
            opening = segments.allocate(owner, horizon, keep);
            if (opening < 0) {
                return false;
            }
        }
        base = segments.area().addressOf(opening);
        generation = segments.generation(opening);
        sequence = segments.sequence(opening);
        position = 0;
        charged = 0;
        segment = opening;
        opening = -1;
        return true;
    }

    /**
     * Continues in a segment that a crash left open, after all that was written to it in this use. No old byte there
     * passes for an entry, see {@link Segments#allocate}. For a start; no segment is open here.
     */
    public void resume(int cutOff) {
        if (segment >= 0 || closing >= 0 || opening >= 0) {
            throw new AssertionError("a log is open already, in segment " + segment);
        }
        position = segments.endOf(cutOff);
        charged = segments.reopen(cutOff);
        base = segments.area().addressOf(cutOff);
        generation = segments.generation(cutOff);
        sequence = segments.sequence(cutOff);
        segment = cutOff;
    }

    /**
     * Closes the open segment, if any, so that it can be cleaned: once all its entries are on all their replicas and on
     * the local device. Until then {@link #settle} must be called again; one more segment may be opened, but not
     * closed. A log of copies waits for the device.
     */
    public void retire() {
        settle();
        if (segment >= 0 && (closing < 0 || closing == segment)) {
            closingCharge = charged;
            segments.area().verbs().flush(base, position);
            closingTicket = request();
            closing = segment;
            segment = -1;
            settle();
        }
    }

    /** Closes what {@link #retire} left closing, if possible now. */
    public void settle() {
        if (closing >= 0 && closing != segment && !underWay.test(closing) && isDurable(owner == SegmentOwner.CLEAN)) {
            if (segments.state(closing) == SegmentState.USING) {
                segments.transition(closing, SegmentState.USING, SegmentState.COMMITTED);
            }
            segments.close(closing, closingCharge);
            closing = -1;
        }
    }

    /** {@link #retire} once nothing is in flight: waits for the device. */
    public void close() {
        retire();
        if (closing >= 0 && isDurable(true)) {
            settle();
        }
    }

    /**
     * A segment is committed only after the device has all of it, so a start finds nothing torn in a committed one.
     * After a device failure the segment stays open for the next start.
     */
    private boolean isDurable(boolean wait) {
        if (wait && !isForced(closingTicket)) {
            try {
                drain();
            } catch (ForceFailedException e) {
                return false; // the failure has been reported already
            }
        }
        return isForced(closingTicket);
    }

    /** Whether a segment waits to be closed: until then no second one is filled. */
    public boolean awaitsReplicas() {
        return closing >= 0;
    }

    /** Appends a new entry and publishes it. Requires that {@link #ensureRoom} was true for its length. */
    public long append(EntryDraft draft, int tag) {
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        final long address = next(length);
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int bodyCrc = draft.writeBody(buffer, at);
        publish(buffer, at, address, length, draft.type(), bodyCrc, tag, 0);
        return address;
    }

    /**
     * As {@link #ensureRoom(int)}, for a copy that may carry a stamp. First closes a segment opened too long ago for
     * the stamp's distance field.
     */
    public boolean ensureRoomForCopy(int length) {
        if (segment >= 0 && !TombstoneStamp.canEncode(segments.lastSequence(), sequence)) {
            retire();
        }
        return ensureRoom(length);
    }

    /**
     * Appends a copy of an entry that lies elsewhere, under this log's generation, and publishes it.
     *
     * @param stamp of a tombstone, not beyond {@link Segments#lastSequence}; 0: none. If not 0, {@link
     *     #ensureRoomForCopy} was true
     */
    public long appendCopy(ByteBuffer source, int sourceAt, int length, int type, int tag, long stamp) {
        return appendBody(
                source,
                sourceAt + EntryDescriptor.FRAME_LENGTH,
                length - EntryDescriptor.FRAME_LENGTH,
                type,
                FrameDescriptor.bodyCrc(source, sourceAt),
                tag,
                stamp);
    }

    /** Appends an entry from its body, which may end without padding, and publishes it. */
    public long appendBody(ByteBuffer source, int bodyAt, int bodyLength, int type, int bodyCrc, int tag, long stamp) {
        final int length = EntryDescriptor.aligned(bodyLength + EntryDescriptor.FRAME_LENGTH);
        final long address = next(length);
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        buffer.put(at + EntryDescriptor.FRAME_LENGTH, source, bodyAt, bodyLength);
        publish(buffer, at, address, length, type, bodyCrc, tag, stamp);
        return address;
    }

    /** The address of the next entry; {@link #ensureRoom} was true. */
    public long nextAddress() {
        return base + position;
    }

    private long next(int length) {
        if (segment < 0 || position + length > segments.length()) {
            throw new AssertionError("append of " + length + " bytes without room, position " + position);
        }
        return base + position;
    }

    private void publish(
            ByteBuffer buffer, int at, long address, int length, int type, int bodyCrc, int tag, long stamp) {
        // The position first: an interrupted append leaves a gap, never two entries at one address.
        position += length;
        final int field = stamp == 0 ? TombstoneStamp.NONE : TombstoneStamp.field(stamp, sequence);
        sealer.publishOwned(buffer, at, address, generation, length, type, bodyCrc, tag, field);
        charged += segments.charge(length);
        bytesWritten += length;
        if (EntryType.isTombstone(type)) {
            segments.tombstone(segment, length, stamp);
        }
        segments.area().verbs().flush(address, length);
    }

    /** Bytes left in the open segment. */
    public int room() {
        return segment < 0 ? 0 : segments.length() - position;
    }

    /**
     * Requests persistence of what was appended, at the area's durability level, without waiting; returns a ticket for
     * {@link #isForced}.
     */
    public long request() {
        return segments.area().verbs().request();
    }

    public boolean isForced(long ticket) {
        return segments.area().verbs().isForced(ticket);
    }

    /** Makes an entry of this log persistent whose append was interrupted after its publication. */
    public void flush(long address, int length) {
        segments.area().verbs().flush(address, length);
    }

    /** Waits until what was appended is persistent, at the area's durability level. */
    public void drain() {
        segments.area().verbs().drain();
    }

    /** Entry bytes appended since the start. */
    public long bytesWritten() {
        return bytesWritten;
    }

    /** The open segment, or −1. */
    public int openSegment() {
        return segment;
    }
}
