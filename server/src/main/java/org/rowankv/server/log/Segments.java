package org.rowankv.server.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.rowan.GenerationSource;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.StackProbe;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;

/**
 * The segments of one server's area while it runs: which are free, how much of each is dead, and the generation by which
 * readers tell whether the segment they read from is still in the same use. Allocation and freeing are rare and locked, but
 * for the reading of a segment that is taken; everything else is atomic words. The persistent part is the area's segment meta table.
 *
 * <p>Readers hold no lock and announce nothing: they load the generation, read, and load it again. A segment that is
 * freed loses its generation first, so a reader that saw the same generation twice read what it meant to read.
 */
public final class Segments {
    private static final VarHandle GENERATION = MethodHandles.arrayElementVarHandle(int[].class);

    private static final int PROBE_DEPTH = 4;

    private final Area area;
    /** Guarded by itself: segments are read between two numbers, without {@code this}. */
    private final RandomSource random;

    private final GenerationSource generationSource;
    private final int[] generations;
    private final SegmentTally deadBytes;
    /** Bytes of the entries in a closed segment; −1 while it is open or free. */
    private final AtomicIntegerArray entryBytes;

    /** Of commit vectors: dead, but nothing that a tombstone ends. */
    private final AtomicIntegerArray recordBytes;

    /** 1 where an entry lies that was ended and is kept all the same: what ended it is needed as long as that lies there. */
    private final AtomicIntegerArray keepsEnded;

    private final AtomicIntegerArray tombstoneBytes;
    /** The sequence number behind which no segment holds what this segment's tombstones end. */
    private final AtomicLongArray tombstoneStamp;
    /** Of the present use; kept in DRAM only, see {@link #effectiveStamp}. */
    private final AtomicLongArray horizons;

    private final int[] free;
    /** The last sequence number of the runs before this one. */
    private final long recoveredSequence;

    private int freeTop;
    private final AtomicLong lastSequence = new AtomicLong();
    private final AtomicInteger freeCount = new AtomicInteger();
    private final int cleanerReserve;
    private final Space space;
    private final DamagedEntries damage = new DamagedEntries();
    private final SegmentPins pins;

    /** @param cleanerReserve free segments that only the cleaner may take, so that it can always go on */
    public Segments(Area area, RandomSource random, int cleanerReserve, long spaceLimit) {
        this(area, random, cleanerReserve, spaceLimit, CounterStarts.USUAL);
    }

    /** @param counters where numbers of segments begin in an area that has given out none beyond that */
    public Segments(Area area, RandomSource random, int cleanerReserve, long spaceLimit, CounterStarts counters) {
        // Half of the servers come to the end of 31 bits, the others to that of 32.
        area.segments().continueBehind(counters.of(0L, 1L << (31 + area.serverId() % 2)));
        this.area = area;
        // Other numbers in each start, also if its seed is the same: behind the end of a log there may be words of the
        // generations of an earlier start, and nobody looks for them.
        this.random = random.fork("generations-" + area.segments().highestSequence());
        this.generationSource = new GenerationSource(this.random);
        this.cleanerReserve = cleanerReserve;
        this.space = new Space(spaceLimit);
        final int count = area.segmentCount();
        this.pins = new SegmentPins(count);
        this.generations = new int[count];
        this.deadBytes = new SegmentTally(count);
        this.entryBytes = new AtomicIntegerArray(count);
        this.recordBytes = new AtomicIntegerArray(count);
        this.keepsEnded = new AtomicIntegerArray(count);
        this.tombstoneBytes = new AtomicIntegerArray(count);
        this.tombstoneStamp = new AtomicLongArray(count);
        this.horizons = new AtomicLongArray(count);
        this.free = new int[count];
        long highest = 0;
        for (int s = count - 1; s >= 0; s--) {
            entryBytes.set(s, -1);
            if (area.segments().state(s) == SegmentState.FREE) {
                free[freeTop++] = s;
            } else {
                generations[s] = area.segments().generation(s);
                horizons.set(s, area.segments().sequence(s));
                highest = Math.max(highest, area.segments().sequence(s));
            }
        }
        freeCount.set(freeTop);
        lastSequence.set(highest);
        recoveredSequence = highest;
    }

    public Area area() {
        return area;
    }

    public MemoryRegion region() {
        return area.region();
    }

    public Space space() {
        return space;
    }

    /** What is known of entries that are not whole any more. */
    public DamagedEntries damage() {
        return damage;
    }

    /** Segments that somebody reads as a whole. */
    public SegmentPins pins() {
        return pins;
    }

    public int count() {
        return generations.length;
    }

    public int length() {
        return area.segmentLength();
    }

    /** What an entry of that length counts for in all accounts of this class and of {@link Space}. */
    public int charge(int entryLength) {
        return Charge.of(entryLength, area.segmentLength());
    }

    public int freeCount() {
        return freeCount.get();
    }

    /** The generation of a segment's present use, 0 when free. A reader's first and last look. */
    public int generation(int segment) {
        return (int) GENERATION.getAcquire(generations, segment);
    }

    public int segmentOf(long address) {
        return area.segmentOf(address);
    }

    /**
     * Takes a free segment and opens it for its owner with a fresh generation; −1 when there is none for that owner now.
     *
     * @param horizon the smallest horizon of what will be put together in it, or 0 for its own
     */
    public int allocate(SegmentOwner owner, long horizon) {
        return allocate(owner, horizon, owner == SegmentOwner.CLEAN ? 0 : cleanerReserve);
    }

    /** As above, leaving {@code keep} segments free. */
    public int allocate(SegmentOwner owner, long horizon, int keep) {
        StackProbe.require(PROBE_DEPTH); // whatever fails deeper down, the segment can be given back
        final int segment = takeFree(keep);
        if (segment < 0) {
            return -1;
        }
        boolean opened = false;
        try {
            if (area.segments().state(segment) != SegmentState.FREE) {
                area.segments().free(segment); // opened by a thread that an error struck before it was done
            }
            area.ensureBacked(segment);
            // Reads the segment: neither the cleaner nor another log waits for that.
            open(segment, owner, horizon, drawGeneration(segment, owner));
            opened = true;
        } finally {
            if (!opened) {
                giveBack(segment);
            }
        }
        return segment;
    }

    /** From here until it is open or given back the segment is its taker's, though the area's table calls it free. */
    private synchronized int takeFree(int keep) {
        if (freeTop <= keep) {
            return -1;
        }
        final int segment = free[--freeTop];
        freeCount.set(freeTop);
        return segment;
    }

    private synchronized void giveBack(int segment) {
        GENERATION.setVolatile(generations, segment, 0);
        free[freeTop++] = segment;
        freeCount.set(freeTop);
    }

    private synchronized void open(int segment, SegmentOwner owner, long horizon, int generation) {
        final long sequence = area.segments().nextSequence();
        lastSequence.set(sequence);
        deadBytes.reset(segment);
        entryBytes.set(segment, -1);
        recordBytes.set(segment, 0);
        keepsEnded.set(segment, 0);
        tombstoneBytes.set(segment, 0);
        tombstoneStamp.set(segment, 0);
        horizons.set(segment, horizon == 0 ? sequence : Math.min(sequence, horizon));
        // The persistent word first: no entry may exist in a segment that a restart would take for free.
        area.segments().open(segment, owner, generation, sequence, sequence);
        GENERATION.setRelease(generations, segment, generation);
    }

    /**
     * A generation that no old word of the segment carries: a scan reads the whole segment, so behind the end of any log such
     * a word would pass for a damaged entry. Reads the whole segment, unless it was never used. The segment is taken.
     */
    private int drawGeneration(int segment, SegmentOwner owner) {
        final int previous = area.segments().generation(segment);
        final long address = area.addressOf(segment);
        final ByteBuffer buffer = region().buffer(address);
        final int at = region().offset(address);
        int generation;
        do {
            // Of the backup log random in all bits: its senders tell by it whether a place is reserved. Of other logs
            // not one of the last 255 of the segment, for readers that still hold an address.
            generation = owner == SegmentOwner.BACKUP
                    ? generationSource.draw(buffer, at, length())
                    : draw() & -256 | previous + 1 & 255;
        } while (generation == 0
                || generation == previous
                || owner != SegmentOwner.BACKUP
                        && previous != 0
                        && GenerationSource.occurs(buffer, at, length(), generation));
        return generation;
    }

    private int draw() {
        synchronized (random) {
            return (int) random.nextLong();
        }
    }

    /** No more entries come; {@code bytes} is what its entries are charged together. */
    public void close(int segment, int bytes) {
        if (tombstoneStamp.get(segment) == 0) {
            tombstoneStamp.set(segment, lastSequence.get());
        }
        entryBytes.set(segment, bytes);
    }

    /**
     * A segment that need not be read, since it is known what is in it.
     *
     * @param bytes what its entries are charged together
     * @param ofTombstones among them
     * @param ofDead among them, tombstones apart
     */
    public void restore(int segment, int bytes, int ofTombstones, int ofDead) {
        tombstoneBytes.set(segment, ofTombstones);
        deadBytes.reset(segment);
        deadBytes.add(segment, ofDead);
        close(segment, bytes);
    }

    /**
     * A start goes on with a segment that was closed because it was read: entries come again. Returns what its entries are
     * charged together.
     */
    public int reopen(int segment) {
        return entryBytes.getAndSet(segment, -1);
    }

    /** Offset behind the last word of the segment's present use, whole or not. Reads the segment. */
    public int endOf(int segment) {
        final long address = area.addressOf(segment);
        final ByteBuffer buffer = region().buffer(address);
        final int start = region().offset(address);
        int end = 0;
        for (int at = 0; at < length(); at += FrameDescriptor.STRIDE) {
            final long word = FrameDescriptor.wordAcquire(buffer, start + at);
            if (FrameDescriptor.generation(word) == generation(segment)) {
                end = Math.max(end, at + FrameDescriptor.length(word));
            }
        }
        return Math.min(end, length());
    }

    public boolean isClosed(int segment) {
        return entryBytes.get(segment) >= 0;
    }

    public void transition(int segment, SegmentState from, SegmentState to) {
        area.segments().transition(segment, from, to);
    }

    /** Everything of it was copied and the copies are persistent; readers may still be inside and will notice. */
    public synchronized void free(int segment) {
        GENERATION.setVolatile(generations, segment, 0);
        entryBytes.set(segment, -1);
        area.segments().free(segment);
        free[freeTop++] = segment;
        freeCount.set(freeTop);
    }

    /** As {@link #free}, unless somebody holds the segment; false if so. */
    public synchronized boolean freeUnlessPinned(int segment) {
        if (!pins.mayBeFreed(segment)) {
            return false;
        }
        free(segment);
        return true;
    }

    public SegmentState state(int segment) {
        return area.segments().state(segment);
    }

    public SegmentOwner owner(int segment) {
        return area.segments().owner(segment);
    }

    /** An entry will not be needed where it lies; returns its charge. */
    public int markDead(long address, int length) {
        final int charge = charge(length);
        deadBytes.add(segmentOf(address), charge);
        return charge;
    }

    /** A dead entry counts as alive until {@link #markDead} is called again: a start must not lose it. */
    public void markAlive(long address, int length) {
        deadBytes.add(segmentOf(address), -charge(length));
    }

    /** An entry that lies there was ended, and is not counted dead yet, since its answer may be asked for. */
    public void markKept(long address) {
        keepsEnded.set(segmentOf(address), 1);
    }

    /** A record has been read, and is of no more use. Unlike what died it cannot come back, so it holds no horizon. */
    public void markRead(long address, int length) {
        recordBytes.addAndGet(segmentOf(address), charge(length));
    }

    public int deadBytes(int segment) {
        return deadBytes.get(segment);
    }

    /** Bytes of the entries of a closed segment, −1 of one that is open or free. */
    public int entryBytes(int segment) {
        return entryBytes.get(segment);
    }

    /** Bytes that a cleaner would have to copy, as far as is known without looking; −1 of an open or free segment. */
    public int liveBytes(int segment, long horizonNow) {
        final int bytes = entryBytes.get(segment);
        if (bytes < 0) {
            return -1;
        }
        final int droppable = tombstoneStamp.get(segment) < horizonNow ? tombstoneBytes.get(segment) : 0;
        return Math.max(0, bytes - deadBytes.get(segment) - recordBytes.get(segment) - droppable);
    }

    /** A tombstone was written to, or copied into, a segment. A copied one brings its stamp, a new one has none (0). */
    public void tombstone(int segment, int length, long stamp) {
        tombstoneBytes.addAndGet(segment, charge(length));
        if (stamp != 0 && stamp > tombstoneStamp.get(segment)) {
            tombstoneStamp.set(segment, stamp);
        }
    }

    public int tombstoneBytes(int segment) {
        return tombstoneBytes.get(segment);
    }

    /** The sequence number of the segment opened last. */
    public long lastSequence() {
        return lastSequence.get();
    }

    public long sequence(int segment) {
        return area.segments().sequence(segment);
    }

    public long horizon(int segment) {
        return horizons.get(segment);
    }

    /** The segment takes in what was ended, or may have been, before the segment was opened. Its owner only. */
    public void lowerHorizon(int segment, long horizon) {
        if (horizon < horizons.get(segment)) {
            horizons.set(segment, horizon);
        }
    }

    /** Nothing in the closed segment was ended by what was written before the segment of that number was opened. */
    public void raiseHorizon(int segment, long horizon) {
        if (horizon > horizons.get(segment)) {
            horizons.set(segment, horizon);
        }
    }

    /** Whether something in the segment was ended, or may have been, so that its horizon counts for the area's. */
    public boolean holdsHorizon(int segment) {
        return generation(segment) != 0
                && (deadBytes.get(segment) > 0
                        || keepsEnded.get(segment) != 0
                        || entryBytes.get(segment) < 0 && owner(segment) == SegmentOwner.BACKUP);
    }

    /**
     * The stamp of a tombstone that lies in a closed segment, by the field of its frame (0: it has none). Lowered horizons are not persistent, so of what an earlier
     * run left every segment counts as old as any tombstone of it.
     */
    public long effectiveStamp(int segment, int stampField) {
        final long stamp = stampField == TombstoneStamp.NONE
                ? tombstoneStamp.get(segment)
                : TombstoneStamp.stamp(stampField, sequence(segment));
        return sequence(segment) <= recoveredSequence ? Math.max(stamp, recoveredSequence) : stamp;
    }

    public int cleanerReserve() {
        return cleanerReserve;
    }

    /** After a scan: the space that is left is the limit less all live bytes. */
    public void recountSpace() {
        long live = 0;
        for (int s = 0; s < generations.length; s++) {
            if (entryBytes.get(s) >= 0) {
                live += entryBytes.get(s) - deadBytes.get(s) - recordBytes.get(s);
            }
        }
        space.take(space.available() - (space.limit() - live));
    }

    /**
     * The tombstone horizon: whatever a tombstone with a smaller stamp ended is gone from this area. The smallest horizon
     * of all segments that hold something dead, or may: in the open ones of the backup log nobody has looked yet.
     */
    public long tombstoneHorizon() {
        // Not beyond the last segment's own number: a tombstone that is written from now on is stamped with at least
        // that,
        // and what it ends may not be counted dead yet.
        long smallest = lastSequence.get();
        for (int s = 0; s < generations.length; s++) {
            if (holdsHorizon(s)) {
                smallest = Math.min(smallest, horizon(s));
            }
        }
        return smallest;
    }
}
