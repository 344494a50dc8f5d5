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
 *   <li>A posting is stored before {@code posted} is raised, and read after W. It is valid if a later read of W finds
 *       it unchanged.
 *   <li><b>Helping.</b> A thread that changes W by a reservation first ensures that the previous reservation, described by
 *       W, has its publication word: RESERVED, with its length. So at most the reservation in W has none; every
 *       other hole can be measured, skipped and voided. The same holds before W moves to the next ordinal, so a
 *       closed segment ends where no word of its generation follows; nothing is written there.
 *   <li><b>Naming.</b> A writer of a publication word or a body has named the segment in its hazard word before it last
 *       read the segment's ordinal in W. A segment is freed only after W has left it and no hazard word names it.
 *   <li>W names the last segment until a reservation moves on, so a full segment is not yet closed: a late helper may
 *       still read its last word.
 * </ul>
 *
 * <p>Wrap-around. The epoch wraps after 2048 fences, so a sender checks its permission again after its reservation.
 * The ordinal wraps after 16 million segments (64 TiB at 4 MiB); a sender that sleeps between reading W and its
 * compare-and-set for exactly that long, and wakes at the same tail, after the same last length, in the same epoch,
 * would succeed wrongly. At 5 GB/s that is a sleep of 3.8 hours to the microsecond; it is not guarded against.
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

    /** @param counters first ordinal and epoch */
    LandingRing(EndpointSettings settings, CounterStarts counters) {
        this.settings = settings;
        this.firstOrdinal = counters.of(0, RingWord.ORDINAL_MASK);
        final int epoch = counters.areNearEnds() ? RingWord.MAX_EPOCH : 0;
        word.setVolatile(RingWord.first(epoch, firstOrdinal));
        posted.setVolatile(firstOrdinal);
        this.segmentStrides = settings.segmentLength() / FrameDescriptor.STRIDE;
        // A segment is posted again only after its former ordinal was read: unread ordinals ≤ segments.
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

    /** Ordinal of the first posted segment. */
    long firstOrdinal() {
        return firstOrdinal;
    }

    long postedCount() {
        return posted.getVolatile();
    }

    /** Whether the ordinal, from a ring word just read, is the next to be posted. */
    boolean awaitsPosting(int ordinal) {
        return ((int) postedCount() & RingWord.ORDINAL_MASK) == ordinal;
    }

    /** Whether the ordinal was posted and no later one uses its slot. */
    boolean isKnown(long ordinal) {
        final long count = postedCount();
        return ordinal >= 0 && ordinal < count && ordinal >= count - postings.length();
    }

    /** Segment and generation posted under the ordinal; its low bits suffice. */
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

    /** The full ordinal of a ring word that was read before this call. */
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
     * Sets a missing publication word of the reservation in the ring word. The caller has read the posting, named its
     * segment, and found the ring word unchanged since. The posting must not be read again here: while the caller sleeps,
     * later segments may wrap around and use its slot.
     */
    void help(long ringWord, long posting) {
        final int last = RingWord.lastLength(ringWord);
        if (last != 0) {
            final int segment = segment(posting);
            final int slot = RingWord.tail(ringWord) - last;
            FrameDescriptor.reserve(
                    buffer(segment), offset(segment, slot), address(segment, slot), generation(posting), last);
        }
    }

    /** Voids a reservation at that slot of a named segment; returns whether there was one. */
    boolean makeVoid(int segment, int offsetStrides) {
        final boolean made =
                FrameDescriptor.makeVoid(buffer(segment), offset(segment, offsetStrides), generationOf(segment));
        flushWord(segment, offsetStrides);
        return made;
    }

    /**
     * Voids a slot that its owner reserved and does not fill, with or without its publication word. The owner named the
     * segment before the reservation.
     */
    void abandon(int segment, int offsetStrides, int strides, int generation) {
        final ByteBuffer buffer = buffer(segment);
        final int at = offset(segment, offsetStrides);
        FrameDescriptor.reserve(buffer, at, address(segment, offsetStrides), generation, strides);
        FrameDescriptor.makeVoid(buffer, at, generation);
        flushWord(segment, offsetStrides);
    }

    /**
     * A void reaches the device with the next force. No thread waits for it: if it is lost, the device contains the
     * previous word, of a reservation or of an older use, which is no entry either.
     */
    private void flushWord(int segment, int offsetStrides) {
        final LandingForce force = settings.force();
        if (force != null) {
            force.flush(address(segment, offsetStrides), FrameDescriptor.STRIDE);
        }
    }
}
