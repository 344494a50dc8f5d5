package org.rowankv.server.cleaning;

import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;

/**
 * Garbage collection of segments (§4.4 of the paper). When few segments are free, it selects the committed segment with
 * the best gain, copies its live entries, and frees it. One segment at a time, a small step per cycle, throttled by
 * {@link CleanerThrottle}. The copies are persistent before the source is free.
 */
public final class CleanAgent implements Agent {
    /** Bytes of the victim read, and perhaps copied, per cycle: some tens of microseconds. */
    private static final int STEP = 32 << 10;
    /** Live fraction, at most, of a segment that is cleaned without need: one byte is copied for seven. */
    private static final int NEARLY_EMPTY = 8;
    /** A victim with more than three quarters live is a poor one; droppable tombstones may be the cause. */
    private static final int POOR_OF_FOUR = 3;

    /** Closes t-log segments that idle workers keep open and that hold the horizon back. */
    @FunctionalInterface
    public interface IdleLogs {
        /** Returns whether a log was closed, so that its segment can be cleaned once it is committed. */
        boolean retireOlderThan(long sequence);
    }

    private final Segments segments;
    private final IntPredicate inQuarantine;
    private final IdleLogs idleLogs;
    private final LongSupplier clearHorizon;
    private final BooleanSupplier quiet;
    private final Relocation relocation;
    private final TombstoneHorizonScan look;
    private final VictimSelector victims;
    private final CleanerThrottle pace;
    private final Clock clock;
    private boolean busy;
    private volatile boolean spaceRequested;
    private long lookedAt;
    private long horizonNow;
    /** Whether only pinned segments could be cleaned, as of the last cycle without a victim. */
    private boolean heldByPins;
    /** Whether the last search for tombstones closed a log, which can be cleaned once it is committed. */
    private boolean closedLog;

    private boolean pinsOverlooked;
    private volatile boolean relocating;

    /**
     * @param inQuarantine whether a segment must be left alone: a fenced sender still references it
     * @param clearHorizon the number of a segment; what was ended by clears whose entries have smaller stamps is removed
     *     from the indexes
     * @param quiet whether no segment waits to be digested or committed, so that no more become cleanable soon
     * @param clock for idle times between steps
     * @param lowWater free segments at which cleaning never idles
     * @param highWater free segments from which on none is cleaned
     */
    public CleanAgent(
            Segments segments,
            Replicas replicas,
            IntPredicate inQuarantine,
            IdleLogs idleLogs,
            LongSupplier clearHorizon,
            BooleanSupplier quiet,
            Clock clock,
            int lowWater,
            int highWater) {
        this(
                segments,
                replicas,
                inQuarantine,
                idleLogs,
                clearHorizon,
                quiet,
                clock,
                lowWater,
                highWater,
                RetainedEntries.NONE);
    }

    private CleanAgent(
            Segments segments,
            Replicas replicas,
            IntPredicate inQuarantine,
            IdleLogs idleLogs,
            LongSupplier clearHorizon,
            BooleanSupplier quiet,
            Clock clock,
            int lowWater,
            int highWater,
            RetainedEntries kept) {
        this.segments = segments;
        this.inQuarantine = inQuarantine;
        this.idleLogs = idleLogs;
        this.clearHorizon = clearHorizon;
        this.quiet = quiet;
        this.relocation = new Relocation(segments, replicas, kept);
        this.look = new TombstoneHorizonScan(segments, replicas);
        this.victims = new VictimSelector(segments, this::isCleanable);
        this.clock = clock;
        this.pace = new CleanerThrottle(clock, lowWater, highWater);
    }

    /**
     * A cleaner for {@link #cleanOne} while the log is read. Sweeps have not run, so it drops no tombstone.
     *
     * @param inUse segments that are not cleaned
     * @param kept entries that are copied whether they are live or not
     */
    public static CleanAgent ofAStart(Segments segments, Replicas replicas, IntPredicate inUse, RetainedEntries kept) {
        return new CleanAgent(
                segments,
                replicas,
                inUse,
                sequence -> false,
                () -> 0,
                () -> true,
                new NoClock(),
                0,
                segments.count(),
                kept);
    }

    /** Resumes a log that a crash interrupted, for the cleaner of a start; see {@link AppendLog#resume}. */
    public void resume(int segment) {
        relocation.log().resume(segment);
    }

    /** For a cleaner that never idles. */
    private static final class NoClock implements Clock {
        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public long wallMs() {
            return 0;
        }
    }

    @Override
    public String roleName() {
        return "clean";
    }

    @Override
    public int doWork() {
        if (pace.isUrgent(segments.freeCount()) && segments.former().freeOldest()) {
            return 1;
        }
        final int free = segments.freeCount();
        if (relocation.victim() >= 0 || look.segment() >= 0) {
            return advance(free);
        }
        busy = pace.isNeeded(free) ? beginWorthiest(free) : beginNearlyEmpty();
        if (busy) {
            return advance(free);
        }
        heldByPins = (spaceRequested || pace.isUrgent(free)) && awaitsPinned();
        if (heldByPins) {
            segments.pins().lacked(clock.nanoTime());
        }
        if (!spaceRequested || heldByPins) {
            return 0;
        }
        // Read first: segments committed in between become cleanable, and rejected ones may be scanned again.
        final boolean nothingToCome = quiet.getAsBoolean() && !awaitsCommit();
        if (beginDropOfTombstones()) {
            busy = true;
            return advance(free);
        }
        if (nothingToCome && !closedLog && !awaitsCommit()) {
            spaceRequested = false;
        }
        return 0;
    }

    /** The next step with the victim or the scan, if it is due. */
    private int advance(int free) {
        if (!pace.begin(spaceRequested || pace.isUrgent(free) || segments.pins().areAny())) {
            return 0;
        }
        if (look.segment() >= 0) {
            if (look.step(STEP)) {
                look.finish();
            }
        } else if (relocation.step(STEP)) {
            end();
        }
        pace.end(free);
        return 1;
    }

    private boolean end() {
        try {
            return relocation.finish(!inQuarantine.test(relocation.victim()));
        } finally {
            relocating = false;
        }
    }

    /** Whether a segment is being emptied. Any thread. */
    public boolean isRelocating() {
        return relocating;
    }

    /** Whether cleaning a pinned segment would gain something, so that the store is not full yet. */
    private boolean awaitsPinned() {
        if (segments.pins().count() == 0) {
            return false;
        }
        lookAtHorizon();
        pinsOverlooked = true;
        try {
            return victims.emptiest(horizonNow) >= 0
                    || victims.richestInTombstones(horizonNow) >= 0
                    || victims.holdingBack(horizonNow) >= 0;
        } finally {
            pinsOverlooked = false;
        }
    }

    /**
     * Whether a segment is being cleaned, or will be once it is unpinned, as of the last cycle. For the agents of its
     * server.
     */
    public boolean isBusy() {
        return busy || heldByPins || relocation.victim() >= 0 || look.segment() >= 0;
    }

    /** Requests space rather than segments: droppable tombstones are dropped. */
    public void requestSpace() {
        spaceRequested = true;
    }

    /** Whether dropping tombstones may still free space. */
    public boolean isSpaceRequested() {
        return spaceRequested;
    }

    /** Begins with a segment with droppable tombstones or, failing that, one that holds the horizon back. */
    private boolean beginDropOfTombstones() {
        closedLog = false;
        lookAtHorizon();
        final int richest = victims.richestInTombstones(horizonNow);
        if (richest >= 0) {
            return begin(richest);
        }
        closedLog = idleLogs.retireOlderThan(segments.lastSequence());
        final int own = relocation.log().openSegment();
        if (own >= 0 && segments.deadBytes(own) > 0) {
            relocation.log().retire();
            closedLog = true;
        }
        // A segment that a later scan may settle is not copied.
        return beginHorizonScan() || !awaitsCommit() && begin(victims.holdingBack(horizonNow));
    }

    /** Whether the segment that holds the horizon back may release it once CommitVer has advanced. */
    private boolean awaitsCommit() {
        final int oldest = victims.oldestHolder();
        return oldest >= 0 && look.isAwaiting(oldest);
    }

    /** Begins to scan the segment that holds the horizon back: it may not have to. */
    private boolean beginHorizonScan() {
        if (horizonNow == 0) {
            return false;
        }
        final int oldest = victims.oldestHolder();
        if (oldest < 0 || !look.isPromising(oldest)) {
            return false;
        }
        look.begin(oldest);
        return true;
    }

    private void lookAtHorizon() {
        // What a clear ended is not counted dead before the sweep: until then no tombstone as young as that clear goes.
        horizonNow = Math.min(clearHorizon.getAsLong(), segments.tombstoneHorizon());
    }

    private boolean isCleanable(int segment) {
        return segments.isClosed(segment)
                && segments.state(segment) == SegmentState.COMMITTED
                && !segments.damage().isSuspect(segment, segments.generation(segment))
                && (pinsOverlooked || !segments.pins().isPinned(segment))
                && !segments.holds().isHeld(segment)
                && !segments.former().isKept(segment)
                && !inQuarantine.test(segment);
    }

    /**
     * Begins with a nearly empty segment although others are free. The next writes then reuse memory that is allocated
     * and cached, so a large area with few objects does not grow to its capacity. Searches once per segment that is
     * opened.
     */
    private boolean beginNearlyEmpty() {
        final long opened = segments.lastSequence();
        if (opened == lookedAt) {
            return false;
        }
        lookAtHorizon();
        final int chosen = victims.emptiest(horizonNow);
        if (chosen >= 0
                && segments.liveBytes(chosen, horizonNow) <= segments.length() / NEARLY_EMPTY
                && begin(chosen)) {
            return true;
        }
        lookedAt = opened;
        return false;
    }

    /** Cleans one whole segment, if that gains anything; false if not. Not between two cycles. */
    public boolean cleanOne() {
        lookAtHorizon();
        if (!beginBest(0)) {
            return false;
        }
        while (!relocation.step(segments.length())) {
            // Not done.
        }
        final boolean outOfRoom = relocation.isOutOfRoom();
        end();
        return !outOfRoom;
    }

    private boolean beginWorthiest(int free) {
        lookAtHorizon();
        if (horizonNow > 0 && victims.heldBack(horizonNow) >= segments.length()) {
            // The holder of the horizon may be a log that an idle worker keeps open.
            idleLogs.retireOlderThan(segments.lastSequence() - segments.count() / 4);
            final int chosen = victims.worthiest(horizonNow, pace.limit(free, segments.length()));
            if (isPoor(chosen) && beginHorizonScan()) {
                return true;
            }
        }
        return beginBest(free);
    }

    /** Whether copying the live entries of that segment frees little. */
    private boolean isPoor(int segment) {
        return segment < 0 || segments.liveBytes(segment, horizonNow) > (long) segments.length() * POOR_OF_FOUR / 4;
    }

    private boolean beginBest(int free) {
        if (begin(victims.worthiest(horizonNow, pace.limit(free, segments.length())))) {
            return true;
        }
        if (!pace.isUrgent(free)) {
            return false;
        }
        if (begin(victims.emptiest(horizonNow)) || begin(victims.holdingBack(horizonNow))) {
            return true;
        }
        // The holder of the horizon may be a log that an idle worker keeps open.
        idleLogs.retireOlderThan(segments.lastSequence() - segments.count() / 4);
        return false;
    }

    private boolean begin(int segment) {
        if (segment < 0 || !fits(segment)) {
            return false; // not begun, since it could not finish
        }
        relocating = true; // set before the second read: a pinning reader reads this after it has pinned
        if (segments.pins().isPinned(segment)) {
            relocating = false;
            return false;
        }
        relocation.begin(segment, horizonNow);
        return true;
    }

    private boolean fits(int segment) {
        return segments.freeCount() > 0 || relocation.log().room() >= segments.liveBytes(segment, horizonNow);
    }

    /** Bytes of live entries copied. */
    public long relocatedBytes() {
        return relocation.relocatedBytes();
    }

    /** Segments freed. */
    public long cleanedSegments() {
        return relocation.cleanedSegments();
    }

    public long tombstonesDropped() {
        return relocation.tombstonesDropped();
    }

    /** A half-emptied segment stays as it is: the copied entries exist twice, as after a crash. */
    @Override
    public void onClose() {
        relocation.log().retire();
    }
}
