package org.rowankv.rdma.leased;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.LandingLane;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;

/**
 * The segments leased to one sending server, over all its connections, and its progress in them.
 *
 * <p>The sender writes entries, and behind them the progress word: a {@link LanePosition}. WRITEs of a queue pair take
 * effect in order, so what is before a visible word is there as a whole. What a peer writes into the word is checked; an
 * impossible word counts for none.
 *
 * <p>Invariant: behind the position of an ended connection, no stride begins with a word of its segment's generation.
 *
 * <p>The NIC agent's event loop changes it; its readers are any threads.
 */
final class LeasedLane implements LandingLane {
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final EndpointSettings settings;
    private final int segmentStrides;
    private final AtomicLongArray postings;
    private final int mask;
    /** The progress word, the only memory beside segments that the sender writes. */
    private final ByteBuffer word = ByteBuffer.allocateDirect(Long.BYTES);

    private volatile long posted;
    /** No position is before it. Where the present connection began, or where the last one ended. */
    private volatile long base;

    private volatile boolean live;
    private long connection;
    private long endedAt;

    LeasedLane(EndpointSettings settings) {
        this.settings = settings;
        this.segmentStrides = settings.segmentLength() / FrameDescriptor.STRIDE;
        // More than segments: an ordinal stays valid until its segment is posted again.
        final int capacity = Integer.highestOneBit(settings.segmentCount()) * 2;
        this.postings = new AtomicLongArray(capacity);
        this.mask = capacity - 1;
    }

    /** For WRITEs of the sender. */
    ByteBuffer word() {
        return word;
    }

    /** A connection of that number begins, which is to write on from {@link #firstUnused}. */
    void begin(long number) {
        connection = number;
        LONGS.setRelease(word, 0, base);
        live = true;
    }

    /** The ordinal of the first lease that was not written to. Without a connection only. */
    long firstUnused() {
        return LanePosition.ordinal(base);
    }

    /** The next segment. */
    void add(int segment, int generation) {
        final long count = posted;
        postings.set((int) count & mask, (long) segment << Integer.SIZE | (generation & 0xFFFF_FFFFL));
        posted = count + 1;
    }

    boolean isLive() {
        return live;
    }

    /** Of the present connection, or of the last one; 0 if there was none. */
    long connection() {
        return connection;
    }

    /** Where the last connection ended. */
    long endedAt() {
        return endedAt;
    }

    /**
     * The connection has ended, and its queue pair is destroyed: what it wrote behind its position is wiped, so neither a
     * reader nor a later scan takes it for an entry.
     *
     * @return addresses of the wiped words
     */
    List<Long> end() {
        final long at = position();
        final List<Long> wiped = new ArrayList<>();
        int from = LanePosition.strides(at);
        for (long ordinal = LanePosition.ordinal(at); ordinal < posted; ordinal++) {
            wipe(ordinal, from, wiped);
            from = 0;
        }
        endedAt = at;
        // A segment that was written to is closed; one that was not is the next connection's.
        base = LanePosition.strides(at) == 0 ? at : LanePosition.of(LanePosition.ordinal(at) + 1, 0);
        live = false;
        return wiped;
    }

    private void wipe(long ordinal, int fromStride, List<Long> wiped) {
        final long address = settings.segmentAddress(segmentAt(ordinal));
        final ByteBuffer buffer = settings.region().buffer(address);
        final int start = settings.region().offset(address);
        final int generation = generationAt(ordinal);
        for (int stride = fromStride; stride < segmentStrides; stride++) {
            final int at = start + stride * FrameDescriptor.STRIDE;
            if (FrameDescriptor.generation(FrameDescriptor.wordAcquire(buffer, at)) == generation) {
                FrameDescriptor.wordRelease(buffer, at, 0);
                Chaos.point("leased.wiped");
                wiped.add(address + (long) stride * FrameDescriptor.STRIDE);
            }
        }
    }

    private long position() {
        final long floor = base;
        if (!live) {
            return floor;
        }
        final long found = (long) LONGS.getAcquire(word, 0);
        final long ordinal = LanePosition.ordinal(found);
        final int strides = LanePosition.strides(found);
        final boolean isPossible =
                found >= floor && (ordinal < posted ? strides <= segmentStrides : ordinal == posted && strides == 0);
        return isPossible ? found : floor;
    }

    /** Whether the sender may still write to the segment. */
    boolean names(int segment) {
        if (live) {
            for (long ordinal = currentOrdinal(); ordinal < posted; ordinal++) {
                if (segmentAt(ordinal) == segment) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    public long postedCount() {
        return posted;
    }

    @Override
    public long currentOrdinal() {
        return LanePosition.ordinal(position());
    }

    @Override
    public int segmentAt(long ordinal) {
        return (int) (postings.get(slot(ordinal)) >>> Integer.SIZE);
    }

    @Override
    public int generationAt(long ordinal) {
        return (int) postings.get(slot(ordinal));
    }

    private int slot(long ordinal) {
        final long count = posted;
        if (ordinal < 0 || ordinal >= count || ordinal < count - postings.length()) {
            throw new IllegalArgumentException(
                    "ordinal " + ordinal + " of " + count + " is not posted yet, or later ones have taken its slot");
        }
        return (int) ordinal & mask;
    }

    @Override
    public boolean isClosed(long ordinal) {
        return currentOrdinal() > ordinal;
    }

    @Override
    public int landedLimit(long ordinal) {
        final long at = position();
        if (ordinal == LanePosition.ordinal(at)) {
            return LanePosition.strides(at) * FrameDescriptor.STRIDE;
        }
        return ordinal > LanePosition.ordinal(at) ? 0 : closedLimit(ordinal);
    }

    /** The entries of a closed segment follow one another. */
    private int closedLimit(long ordinal) {
        final long address = settings.segmentAddress(segmentAt(ordinal));
        final ByteBuffer buffer = settings.region().buffer(address);
        final int start = settings.region().offset(address);
        final int generation = generationAt(ordinal);
        int at = 0;
        while (at < settings.segmentLength()) {
            final long found = FrameDescriptor.wordAcquire(buffer, start + at);
            if (FrameDescriptor.generation(found) != generation) {
                return at;
            }
            at += FrameDescriptor.length(found);
        }
        return at;
    }
}
