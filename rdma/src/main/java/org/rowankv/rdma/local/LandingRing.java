package org.rowankv.rdma.local;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.LandingForce;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.CounterStarts;

/**
 * The shared words of one receiver: the ring word W, the postings by ordinal, and the frames' publication words.
 *
 * <p>Memory-order protocol. W is volatile and changes by compare-and-set alone.
 *
 * <ul>
 *   <li>A posting is stored before {@code posted} is raised, and read after W. It may be believed if W, read again
 *       later, has not changed.
 *   <li><b>Helping.</b> Whoever changes W by a reservation has first made sure that the reservation before, which W
 *       describes, has its publication word: RESERVED, with its length. So at most one reservation has none, and it
 *       is the one in W; every other hole can be measured, stepped over and voided. The same holds before W goes to
 *       the next ordinal, so the end of a closed segment is where no word of its generation stands; nothing is
 *       written there.
 *   <li><b>Naming.</b> Whoever writes a publication word or a body has the segment in its hazard word since before it
 *       last saw the segment's ordinal in W. A segment is freed only after W has left it and no hazard word names it.
 *   <li>W names the last segment until a reservation moves on, so a segment that is merely full is not closed: a late
 *       helper may still look at its last word.
 * </ul>
 *
 * <p>Wrap-around. The epoch comes round after 2048 fences, so a sender looks at its permission once more after its
 * reservation. The ordinal comes round after 16 million segments (64 TiB at 4 MiB); a sender that sleeps between
 * reading W and its compare-and-set for exactly that long, and wakes at the same tail, after the same last length, in
 * the same epoch, would be taken in. At 5 GB/s that is a sleep of 3.8 hours to the microsecond; it is not guarded
 * against.
 */
final class LandingRing {
    private final EndpointSettings settings;
    private final int segmentStrides;
    private final PaddedLong word = new PaddedLong();
    private final PaddedLong posted = new PaddedLong();
    private final AtomicLongArray postings;
    private final AtomicIntegerArray generations;
    private final int mask;
    private final int firstOrdinal;

    /** @param counters where ordinals, and the epoch, begin */
    LandingRing(EndpointSettings settings, CounterStarts counters) {
        this.settings = settings;
        this.firstOrdinal = counters.of(0, RingWord.ORDINAL_MASK);
        final int epoch = counters.areNearEnds() ? RingWord.MAX_EPOCH : 0;
        word.setVolatile(RingWord.first(epoch, firstOrdinal));
        posted.setVolatile(firstOrdinal);
        this.segmentStrides = settings.segmentLength() / FrameDescriptor.STRIDE;
        // A segment is posted again only after its former ordinal was read, so there are never more unread ordinals
        // than
        // segments.
        final int capacity = Integer.highestOneBit(settings.segmentCount()) * 2;
        this.postings = new AtomicLongArray(capacity);
        this.generations = new AtomicIntegerArray(settings.segmentCount());
        this.mask = capacity - 1;
    }

    long word() {
        return word.getVolatile();
    }

    boolean compareAndSet(long expected, long next) {
        return word.compareAndSet(expected, next);
    }

    /** Raises the epoch; returns the ring word with it. */
    long raiseEpoch() {
        for (; ; ) {
            final long found = word();
            final long raised = RingWord.raised(found);
            if (compareAndSet(found, raised)) {
                return raised;
            }
        }
    }

    int segmentStrides() {
        return segmentStrides;
    }

    /** Posts one more segment; the control agent only. */
    void post(int segment, int generation) {
        final long ordinal = postedCount();
        generations.set(segment, generation);
        postings.set((int) ordinal & mask, (long) segment << Integer.SIZE | (generation & 0xFFFF_FFFFL));
        posted.setVolatile(ordinal + 1);
    }

    /** Of the segment that is posted first. */
    long firstOrdinal() {
        return firstOrdinal;
    }

    long postedCount() {
        return posted.getVolatile();
    }

    /** Whether the ordinal, of a ring word just read, is the next to be posted. */
    boolean awaitsPosting(int ordinal) {
        return ((int) postedCount() & RingWord.ORDINAL_MASK) == ordinal;
    }

    /** Whether the ordinal was posted and its slot has not been taken by a later one. */
    boolean isKnown(long ordinal) {
        final long count = postedCount();
        return ordinal >= 0 && ordinal < count && ordinal >= count - postings.length();
    }

    /** Segment and generation posted under the ordinal, of which the low bits are enough. */
    long posting(long ordinal) {
        return postings.getAcquire((int) ordinal & mask);
    }

    static int segment(long posting) {
        return (int) (posting >>> Integer.SIZE);
    }

    static int generation(long posting) {
        return (int) posting;
    }

    /** Generation of the segment's last posting. */
    int generationOf(int segment) {
        return generations.get(segment);
    }

    /** The whole ordinal of a ring word that was read before this call. */
    long wholeOrdinal(long ringWord) {
        final long count = postedCount();
        return count - ((count - RingWord.ordinal(ringWord)) & RingWord.ORDINAL_MASK);
    }

    long address(int segment, int offsetStrides) {
        return settings.segmentAddress(segment) + (long) offsetStrides * FrameDescriptor.STRIDE;
    }

    ByteBuffer buffer(int segment) {
        return settings.region().buffer(settings.segmentAddress(segment));
    }

    /** Offset, in the segment's buffer, of a stride of it. */
    int offset(int segment, int offsetStrides) {
        return settings.region().offset(settings.segmentAddress(segment)) + offsetStrides * FrameDescriptor.STRIDE;
    }

    /**
     * Gives the reservation that the ring word describes its publication word, if it is in want of it. The caller has
     * read the posting, named its segment, and seen the ring word unchanged since. It must not be read again here: while
     * the caller sleeps, other segments may go round and take its slot.
     */
    void help(long ringWord, long posting) {
        final int last = RingWord.lastLength(ringWord);
        if (last != 0) {
            final int segment = segment(posting);
            final int at = offset(segment, RingWord.tail(ringWord) - last);
            FrameDescriptor.reserve(buffer(segment), at, generation(posting), last);
        }
    }

    /** Voids what is reserved at that place of a named segment; returns whether something was. */
    boolean makeVoid(int segment, int offsetStrides) {
        final boolean made =
                FrameDescriptor.makeVoid(buffer(segment), offset(segment, offsetStrides), generationOf(segment));
        flushWord(segment, offsetStrides);
        return made;
    }

    /**
     * Voids a place that its owner took and does not fill, whether or not it has its publication word. The owner has
     * named the segment since before it took the place.
     */
    void abandon(int segment, int offsetStrides, int strides, int generation) {
        final ByteBuffer buffer = buffer(segment);
        final int at = offset(segment, offsetStrides);
        FrameDescriptor.reserve(buffer, at, generation, strides);
        FrameDescriptor.makeVoid(buffer, at, generation);
        flushWord(segment, offsetStrides);
    }

    /**
     * A void is on the device with whatever is forced next. Nobody waits for it: should it be lost, the device holds the
     * word from before, of a reservation or of an older use, which is no entry either.
     */
    private void flushWord(int segment, int offsetStrides) {
        final LandingForce force = settings.force();
        if (force != null) {
            force.flush(address(segment, offsetStrides), Long.BYTES);
        }
    }
}
