package org.rowankv.server.area;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.durability.DurabilityVerbs;

/**
 * State, owner, generation, opening sequence and horizon of every segment of an area.
 *
 * <p>Guarantees: a state transition is one aligned 64-bit word, flushed when the method returns. So it is durable
 * before, or together with, anything its caller drains or requests afterwards. Only transitions of the life cycle are
 * made. The generation stays the same from {@link #open} to the next {@link #open}. A segment is "using" before its
 * first entry can be, and durably so before that entry counts.
 *
 * <p>Not guaranteed: that a segment freed here is no longer read or referenced. The caller of {@link #free} ensures
 * that, and has drained what replaces it.
 *
 * <p>Memory order: {@link #open} writes sequence and horizon, then the word with release; every reader starts with the
 * word (acquire). Later transitions are compare-and-sets of the word, so of two agents that try the same one, one fails
 * loudly. Sequence and horizon can be read while a segment is not free. They belong to the use of the word read before
 * only while that use lasts.
 *
 * <p>Thread-safe; the agent that owns a segment makes its transitions.
 */
public final class SegmentMetaTable {
    private final ByteBuffer header;
    private final DurabilityVerbs verbs;
    private final int base;
    private final int segmentCount;
    private final AtomicLong lastSequence;
    /** By segment, the ticket of its last transition to free. Accessed by the agent that makes it. */
    private final long[] freed;

    public SegmentMetaTable(ByteBuffer header, DurabilityVerbs verbs, int base, int segmentCount) {
        this.header = header;
        this.verbs = verbs;
        this.base = base;
        this.segmentCount = segmentCount;
        this.freed = new long[segmentCount];
        long highest = 0;
        for (int segment = 0; segment < segmentCount; segment++) {
            // Free segments included: their last use must stay older than every later use.
            highest = Math.max(highest, SegmentMetaDescriptor.sequence(header, offset(segment)));
        }
        this.lastSequence = new AtomicLong(highest);
    }

    /** The reason why the table is invalid, or null. */
    @Nullable
    public String whyInvalid() {
        for (int segment = 0; segment < segmentCount; segment++) {
            final String reason = whyInvalid(segment);
            if (reason != null) {
                return reason;
            }
        }
        return null;
    }

    /** The reason why the line of a segment is invalid, or null. */
    @Nullable
    public String whyInvalid(int segment) {
        final String reason = SegmentMetaDescriptor.whyInvalid(header, offset(segment), segment);
        return reason == null ? null : "segment " + segment + ": " + reason;
    }

    /** The address of a segment's line in the area. */
    public long lineOffset(int segment) {
        return offset(segment);
    }

    public int segmentCount() {
        return segmentCount;
    }

    /** Later openings get numbers greater than that. */
    public void continueBehind(long sequence) {
        lastSequence.accumulateAndGet(sequence, Math::max);
    }

    /** A number greater than every opening sequence of this area so far, restarts included. */
    public long nextSequence() {
        return lastSequence.incrementAndGet();
    }

    /** The present generation; of a free segment that of its last use, or 0 if never used. */
    public int generation(int segment) {
        return SegmentMetaDescriptor.generation(word(segment));
    }

    public SegmentState state(int segment) {
        return SegmentMetaDescriptor.state(word(segment));
    }

    public SegmentOwner owner(int segment) {
        return SegmentMetaDescriptor.owner(word(segment));
    }

    /** State, owner and generation in one read. */
    public long word(int segment) {
        return SegmentMetaDescriptor.wordAcquire(header, offset(segment));
    }

    /** Opening sequence of the present use; 0 if the segment was never used. */
    public long sequence(int segment) {
        return SegmentMetaDescriptor.sequence(header, offset(segment));
    }

    /** Horizon sequence of the present use: no entry in the segment is older than the segment of that sequence. */
    public long horizon(int segment) {
        return SegmentMetaDescriptor.horizon(header, offset(segment));
    }

    /** The highest opening sequence so far, of this run or an earlier one. */
    public long highestSequence() {
        return lastSequence.get();
    }

    /**
     * Free → using. The words of the use are durable before word 0 names it. That word is durable before any entry made
     * so by the same drain or a later one. Waits for the device, at the level that has one.
     *
     * @param generation not 0, and not that of the segment's last use
     * @param sequence from {@link #nextSequence}
     * @param horizon the sequence itself, or for a clean segment the smallest horizon of its sources
     */
    public void open(int segment, SegmentOwner owner, int generation, long sequence, long horizon) {
        final int at = offset(segment);
        final long before = word(segment);
        require(segment, before, SegmentMetaDescriptor.state(before) == SegmentState.FREE, SegmentState.USING);
        if (owner == SegmentOwner.NONE || generation == 0 || generation == SegmentMetaDescriptor.generation(before)) {
            throw new IllegalArgumentException(
                    "segment " + segment + " opened with owner " + owner + " and generation " + generation);
        }
        if (sequence <= 0 || horizon <= 0 || horizon > sequence) {
            throw new IllegalArgumentException(
                    "segment " + segment + " opened with sequence " + sequence + " and horizon " + horizon);
        }
        if (!verbs.isForced(freed[segment])) {
            verbs.drain(); // while the device has the last use's word 0, it needs that use's words 1 to 3
        }
        lastSequence.accumulateAndGet(sequence, Math::max);
        SegmentMetaDescriptor.use(header, at, segment, owner, generation, sequence, horizon);
        verbs.flush(at, SegmentMetaDescriptor.LENGTH);
        verbs.drain();
        advance(segment, before, SegmentMetaDescriptor.word(SegmentState.USING, owner, generation));
    }

    /**
     * A transition that keeps owner and generation: not from free and not to free. Flushed, not waited for: a restart
     * handles either state.
     */
    public void transition(int segment, SegmentState from, SegmentState to) {
        final long before = word(segment);
        final boolean legal = SegmentMetaDescriptor.state(before) == from
                && from != SegmentState.FREE
                && to != SegmentState.FREE
                && from.mayBecome(to);
        require(segment, before, legal, to);
        advance(
                segment,
                before,
                SegmentMetaDescriptor.word(
                        to, SegmentMetaDescriptor.owner(before), SegmentMetaDescriptor.generation(before)));
    }

    /**
     * Committed → free, or using → free of an empty segment. Drain every copy of its live entries first. The generation
     * stays readable until the next use, which waits until this transition is durable.
     */
    public void free(int segment) {
        final long before = word(segment);
        require(segment, before, SegmentMetaDescriptor.state(before).mayBecome(SegmentState.FREE), SegmentState.FREE);
        advance(
                segment,
                before,
                SegmentMetaDescriptor.word(
                        SegmentState.FREE, SegmentOwner.NONE, SegmentMetaDescriptor.generation(before)));
        freed[segment] = verbs.request();
    }

    private void advance(int segment, long before, long after) {
        final int at = offset(segment);
        if (!SegmentMetaDescriptor.compareAndSetWord(header, at, before, after)) {
            throw new IllegalStateException("segment " + segment + " was changed by two agents at once");
        }
        assert SegmentMetaDescriptor.whyInvalid(header, at, segment) == null;
        verbs.flush(at + SegmentMetaDescriptor.WORD_OFFSET, Long.BYTES);
    }

    private static void require(int segment, long word, boolean legal, SegmentState to) {
        if (!legal) {
            throw new IllegalStateException("segment " + segment + " (" + SegmentMetaDescriptor.state(word) + ", owner "
                    + SegmentMetaDescriptor.owner(word) + ") cannot become " + to);
        }
    }

    private int offset(int segment) {
        if (segment < 0 || segment >= segmentCount) {
            throw new IndexOutOfBoundsException("segment " + segment + " of " + segmentCount);
        }
        return base + segment * SegmentMetaDescriptor.LENGTH;
    }
}
