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
 * The segments of one server's area at run time: which are free, how much of each is dead, and the generations by which
 * readers detect reuse. Allocation and freeing are rare and locked, except the reading of a newly taken segment.
 * Everything else is atomic words. The persistent part is the area's segment meta table.
 *
 * <p>Readers hold no lock and announce nothing: they load the generation, read, and load it again. A segment that is
 * freed loses its generation first, so a reader that saw the same generation twice has read the intended use.
 */
public final class Segments {
    private static final VarHandle GENERATION = MethodHandles.arrayElementVarHandle(int[].class);
    private static final VarHandle USE = MethodHandles.arrayElementVarHandle(long[].class);

    private static final int PROBE_DEPTH = 4;

    private final Area area;
    private final GenerationSource generationSource;
    private final int[] generations;
    /** Sequence numbers of the present uses, 0 while free: in DRAM, since readers of decoded values compare them. */
    private final long[] uses;

    private final SegmentTally deadBytes;
    /** Bytes of the entries in a closed segment; −1 while it is open or free. */
    private final AtomicIntegerArray entryBytes;

    /** Of commit vectors: dead, but nothing that a tombstone ends. */
    private final AtomicIntegerArray recordBytes;

    /** 1 where an ended entry is kept: its tombstone is needed as long as it lies there. */
    private final AtomicIntegerArray keepsEnded;

    private final AtomicIntegerArray tombstoneBytes;
    /** The sequence number after which no segment holds what this segment's tombstones end. */
    private final AtomicLongArray tombstoneStamp;
    /** Of the present use; kept in DRAM only, see {@link #effectiveStamp}. */
    private final AtomicLongArray horizons;

    private final int[] free;
    /** The last sequence number of earlier runs. */
    private final long recoveredSequence;

    private int freeTop;
    private final AtomicLong lastSequence = new AtomicLong();
    private final AtomicInteger freeCount = new AtomicInteger();
    private final int cleanerReserve;
    private final Space space;
    private final DamagedEntries damage = new DamagedEntries();
    private final SegmentPins pins;
    private final SegmentHolds holds;
    private final FormerSegments former;

    /** @param cleanerReserve free segments that only the cleaner may take, so that it can always proceed */
    public Segments(Area area, RandomSource random, int cleanerReserve, long spaceLimit) {
        this(area, random, cleanerReserve, spaceLimit, CounterStarts.USUAL);
    }

    /** @param counters where numbers of segments begin in an area that has assigned none beyond that */
    public Segments(Area area, RandomSource random, int cleanerReserve, long spaceLimit, CounterStarts counters) {
        // Half of the servers reach the end of 31 bits, the others that of 32.
        area.segments().continueBehind(counters.of(0L, 1L << (31 + area.serverId() % 2)));
        this.area = area;
        // Different numbers in each start, even with the same seed: after the end of a log there may be words of an
        // earlier start's generations, which are not searched for.
        this.generationSource = new GenerationSource(
                random.fork("generations-" + area.segments().highestSequence()));
        this.cleanerReserve = cleanerReserve;
        this.space = new Space(spaceLimit);
        final int count = area.segmentCount();
        this.pins = new SegmentPins(count);
        this.holds = new SegmentHolds(count);
        this.former = new FormerSegments(this);
        this.generations = new int[count];
        this.uses = new long[count];
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
                uses[s] = area.segments().sequence(s);
                horizons.set(s, uses[s]);
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

    /** The registry of damaged entries. */
    public DamagedEntries damage() {
        return damage;
    }

    /** The segments that hold entries which are not on all replicas. */
    public SegmentHolds holds() {
        return holds;
    }

    /** The segments of earlier tenures that may be of use. */
    public FormerSegments former() {
        return former;
    }

    /** The segments that are pinned by a reader. */
    public SegmentPins pins() {
        return pins;
    }

    public int count() {
        return generations.length;
    }

    public int length() {
        return area.segmentLength();
    }

    /** The charge of an entry of that length in all accounts of this class and of {@link Space}. */
    public int charge(int entryLength) {
        return Charge.of(entryLength, area.segmentLength());
    }

    public int freeCount() {
        return freeCount.get();
    }

    /** The generation of a segment's present use, 0 when free. Readers load it first and last. */
    public int generation(int segment) {
        return (int) GENERATION.getAcquire(generations, segment);
    }

    /**
     * The number of a segment's present use, 0 when free. Unlike a generation, of which there are 2^32, it never
     * returns: an address seen in a use is compared after any time. Changes between two generations.
     */
    public long use(int segment) {
        return (long) USE.getAcquire(uses, segment);
    }

    public int segmentOf(long address) {
        return area.segmentOf(address);
    }

    /**
     * Takes a free segment and opens it for its owner with a fresh generation; −1 when there is none for that owner
     * now.
     *
     * @param horizon the smallest horizon of its sources, or 0 for its own
     */
    public int allocate(SegmentOwner owner, long horizon) {
        return allocate(owner, horizon, owner == SegmentOwner.CLEAN ? 0 : cleanerReserve);
    }

    /** As above, leaving {@code keep} segments free. */
    public int allocate(SegmentOwner owner, long horizon, int keep) {
        StackProbe.require(PROBE_DEPTH); // so that the segment can be freed after any failure below
        final int segment = takeFree(keep);
        if (segment < 0) {
            return -1;
        }
        boolean opened = false;
        try {
            if (area.segments().state(segment) != SegmentState.FREE) {
                area.segments().free(segment); // opened by a thread that failed before it was done
            }
            area.ensureBacked(segment);
            // Reads the segment: neither the cleaner nor another log waits for that.
            open(segment, owner, horizon, drawGeneration(segment, owner));
            opened = true;
        } finally {
            if (!opened) {
                release(segment);
            }
        }
        return segment;
    }

    /**
     * From here until it is open or freed the segment belongs to the caller, though the area's table has it as free.
     */
    private synchronized int takeFree(int keep) {
        if (freeTop <= keep) {
            return -1;
        }
        final int segment = free[--freeTop];
        freeCount.set(freeTop);
        return segment;
    }

    private synchronized void release(int segment) {
        endUse(segment);
        free[freeTop++] = segment;
        freeCount.set(freeTop);
    }

    private void endUse(int segment) {
        GENERATION.setVolatile(generations, segment, 0);
        USE.setVolatile(uses, segment, 0L);
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
        // The persistent word first: no entry may exist in a segment that a restart would treat as free.
        area.segments().open(segment, owner, generation, sequence, sequence);
        USE.setRelease(uses, segment, sequence);
        GENERATION.setRelease(generations, segment, generation);
    }

    /**
     * A generation that no old word of the segment carries. A scan reads the whole segment, so such a word after the
     * end of a log would pass for a damaged entry. Reads the whole segment, unless it was never used. The segment is
     * taken.
     */
    private int drawGeneration(int segment, SegmentOwner owner) {
        final int previous = area.segments().generation(segment);
        final long address = area.addressOf(segment);
        final ByteBuffer buffer = region().buffer(address);
        final int at = region().offset(address);
        if (owner != SegmentOwner.BACKUP) {
            return generationSource.drawAfter(previous, buffer, at, length());
        }
        // Random in all bits: senders recognize a reserved place by it.
        final int drawn = generationSource.draw(buffer, at, length());
        return drawn == previous ? drawGeneration(segment, owner) : drawn;
    }

    /** Closes a segment; {@code bytes} is the charge of its entries. */
    public void close(int segment, int bytes) {
        if (tombstoneStamp.get(segment) == 0) {
            tombstoneStamp.set(segment, lastSequence.get());
        }
        entryBytes.set(segment, bytes);
    }

    /**
     * Restores a segment whose content is known, without reading it.
     *
     * @param bytes the charge of its entries
     * @param ofTombstones among them
     * @param ofDead among them, tombstones excluded
     */
    public void restore(int segment, int bytes, int ofTombstones, int ofDead) {
        tombstoneBytes.set(segment, ofTombstones);
        deadBytes.reset(segment);
        deadBytes.add(segment, ofDead);
        close(segment, bytes);
    }

    /**
     * Reopens a segment that a start closed after reading it: more entries follow. Returns the charge of its entries.
     */
    public int reopen(int segment) {
        return entryBytes.getAndSet(segment, -1);
    }

    /** Nothing in a closed segment counts any more, nor does it when a start finds it. */
    void endAll(int segment) {
        tombstoneBytes.set(segment, 0);
        keepsEnded.set(segment, 0);
        deadBytes.reset(segment);
        recordBytes.set(segment, entryBytes.get(segment));
    }

    /** Offset after the last word of the segment's present use, whole or not. Reads the segment. */
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

    /** Frees a segment: all of it was copied and the copies are persistent. Readers still inside detect it. */
    public synchronized void free(int segment) {
        endUse(segment);
        entryBytes.set(segment, -1);
        area.segments().free(segment);
        free[freeTop++] = segment;
        freeCount.set(freeTop);
    }

    /** As {@link #free}, unless the segment is pinned and held; false if so. */
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

    /** An entry is not needed at its address; returns its charge. */
    public int markDead(long address, int length) {
        final int charge = charge(length);
        deadBytes.add(segmentOf(address), charge);
        return charge;
    }

    /** Counts a dead entry as alive until {@link #markDead} is called again: a start must not lose it. */
    public void markAlive(long address, int length) {
        deadBytes.add(segmentOf(address), -charge(length));
    }

    /** An entry was ended and is not counted dead yet, since its response may be requested. */
    public void markKept(long address) {
        keepsEnded.set(segmentOf(address), 1);
    }

    /** A record was read and is not needed any more. Unlike a dead entry it cannot reappear, so it holds no horizon. */
    public void markRead(long address, int length) {
        recordBytes.addAndGet(segmentOf(address), charge(length));
    }

    public int deadBytes(int segment) {
        return deadBytes.get(segment);
    }

    /** Bytes of the entries of a closed segment, −1 for one that is open or free. */
    public int entryBytes(int segment) {
        return entryBytes.get(segment);
    }

    /** Bytes that a cleaner would have to copy, as far as known without reading; −1 for an open or free segment. */
    public int liveBytes(int segment, long horizonNow) {
        final int bytes = entryBytes.get(segment);
        if (bytes < 0) {
            return -1;
        }
        final int droppable = tombstoneStamp.get(segment) < horizonNow ? tombstoneBytes.get(segment) : 0;
        return Math.max(0, bytes - deadBytes.get(segment) - recordBytes.get(segment) - droppable);
    }

    /** Accounts a tombstone written or copied into a segment. A copy has its stamp, a new one has none (0). */
    public void tombstone(int segment, int length, long stamp) {
        tombstoneBytes.addAndGet(segment, charge(length));
        if (stamp != 0 && stamp > tombstoneStamp.get(segment)) {
            tombstoneStamp.set(segment, stamp);
        }
    }

    public int tombstoneBytes(int segment) {
        return tombstoneBytes.get(segment);
    }

    /** The sequence number of the last segment opened. */
    public long lastSequence() {
        return lastSequence.get();
    }

    public long sequence(int segment) {
        return area.segments().sequence(segment);
    }

    public long horizon(int segment) {
        return horizons.get(segment);
    }

    /**
     * The segment receives what was ended, or may have been, before the segment was opened. Called by its owner only.
     */
    public void lowerHorizon(int segment, long horizon) {
        if (horizon < horizons.get(segment)) {
            horizons.set(segment, horizon);
        }
    }

    /** Nothing in the closed segment was ended by an entry from before the segment of that number was opened. */
    public void raiseHorizon(int segment, long horizon) {
        if (horizon > horizons.get(segment)) {
            horizons.set(segment, horizon);
        }
    }

    /**
     * Whether the segment holds something that was ended, or may have been, so that its horizon counts for the area's.
     */
    public boolean holdsHorizon(int segment) {
        return generation(segment) != 0
                && (deadBytes.get(segment) > 0
                        || keepsEnded.get(segment) != 0
                        || entryBytes.get(segment) < 0 && owner(segment) == SegmentOwner.BACKUP);
    }

    /**
     * The stamp of a tombstone in a closed segment, from its frame's field (0: none). Lowered horizons are not
     * persistent, so every segment of an earlier run counts as old as any of its tombstones.
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

    /** After a scan: the available space is the limit minus all live bytes. */
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
     * The tombstone horizon: whatever a tombstone with a smaller stamp ended is gone from this area. It is the smallest
     * horizon of all segments that hold something dead, or may: the open ones of the backup log are not examined yet.
     */
    public long tombstoneHorizon() {
        return tombstoneHorizonWithout(-1);
    }

    /** As above, for all segments but one. */
    public long tombstoneHorizonWithout(int segment) {
        // Not beyond the last segment's own number: a tombstone written from now on is stamped with at least that, and
        // what it ends may not be counted dead yet.
        long smallest = lastSequence.get();
        for (int s = 0; s < generations.length; s++) {
            if (s != segment && holdsHorizon(s)) {
                smallest = Math.min(smallest, horizon(s));
            }
        }
        return smallest;
    }
}
