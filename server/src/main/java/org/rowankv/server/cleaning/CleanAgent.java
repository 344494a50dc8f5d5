package org.rowankv.server.cleaning;

import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;

/**
 * Garbage collection of segments (§4.4 of the paper): when free segments become few, takes the committed segment that is
 * most worth it, copies what is live in it, and frees it. One segment at a time, a small step in each turn, at a {@link
 * CleanerThrottle pace} that follows the need. The copies are persistent before the source is free.
 */
public final class CleanAgent implements Agent {
    /** Bytes of the victim that are read, and perhaps copied, in one turn: some tens of microseconds. */
    private static final int STEP = 32 << 10;
    /** Of a segment that is cleaned although nobody needs it, this part lives at most: one byte is copied for seven. */
    private static final int NEARLY_EMPTY = 8;
    /** A victim of which more than three quarters live is a poor one: perhaps tombstones that could go make it so. */
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
    private final BooleanSupplier sweepDone;
    private final BooleanSupplier quiet;
    private final Relocation relocation;
    private final TombstoneHorizonScan look;
    private final VictimSelector victims;
    private final CleanerThrottle pace;
    private final Clock clock;
    private boolean busy;
    private volatile boolean spaceWanted;
    private long lookedAt;
    private long horizonNow;
    /** Whether there is nothing to clean but what is pinned, as of the last turn without a victim. */
    private boolean heldUp;
    /** Whether the last look for tombstones closed a log, which can be cleaned once it is committed. */
    private boolean closedLog;

    private boolean pinsOverlooked;
    private volatile boolean relocating;

    /**
     * @param inQuarantine whether a segment must be left alone: a sender names it
     * @param sweepDone whether all that clears have ended is removed from the indexes
     * @param quiet whether no segment waits to be digested or committed, so that no more can be cleaned soon
     * @param clock to rest between steps
     * @param lowWater free segments at which cleaning never rests
     * @param highWater free segments from which on none is cleaned
     */
    public CleanAgent(
            Segments segments,
            Replicas replicas,
            IntPredicate inQuarantine,
            IdleLogs idleLogs,
            BooleanSupplier sweepDone,
            BooleanSupplier quiet,
            Clock clock,
            int lowWater,
            int highWater) {
        this(
                segments,
                replicas,
                inQuarantine,
                idleLogs,
                sweepDone,
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
            BooleanSupplier sweepDone,
            BooleanSupplier quiet,
            Clock clock,
            int lowWater,
            int highWater,
            RetainedEntries kept) {
        this.segments = segments;
        this.inQuarantine = inQuarantine;
        this.idleLogs = idleLogs;
        this.sweepDone = sweepDone;
        this.quiet = quiet;
        this.relocation = new Relocation(segments, replicas, kept);
        this.look = new TombstoneHorizonScan(segments, replicas);
        this.victims = new VictimSelector(segments, this::isCleanable);
        this.clock = clock;
        this.pace = new CleanerThrottle(clock, lowWater, highWater);
    }

    /**
     * One for {@link #cleanOne}, while the log is read. Sweeps have not run, so no tombstone is dropped.
     *
     * @param inUse segments that are not cleaned
     * @param kept entries that are copied whether they live or not
     */
    public static CleanAgent ofAStart(Segments segments, Replicas replicas, IntPredicate inUse, RetainedEntries kept) {
        return new CleanAgent(
                segments,
                replicas,
                inUse,
                sequence -> false,
                () -> false,
                () -> true,
                new NoClock(),
                0,
                segments.count(),
                kept);
    }

    /** The cleaner of a start goes on with a log that a crash cut off, see {@link AppendLog#resume}. */
    public void resume(int segment) {
        relocation.log().resume(segment);
    }

    /** Of a cleaner that never rests. */
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
        final int free = segments.freeCount();
        if (relocation.victim() >= 0 || look.segment() >= 0) {
            return goOn(free);
        }
        busy = pace.isWanted(free) ? beginWorthiest(free) : beginNearlyEmpty();
        if (busy) {
            return goOn(free);
        }
        heldUp = (spaceWanted || pace.isUrgent(free)) && awaitsPinned();
        if (heldUp) {
            segments.pins().lacked(clock.nanoTime());
        }
        if (!spaceWanted || heldUp) {
            return 0;
        }
        // Asked first: what is committed in between can be cleaned, and what was looked at in vain be looked at again.
        final boolean nothingToCome = quiet.getAsBoolean() && !awaitsCommit();
        if (beginDropOfTombstones()) {
            busy = true;
            return goOn(free);
        }
        if (nothingToCome && !closedLog && !awaitsCommit()) {
            spaceWanted = false;
        }
        return 0;
    }

    /** The next step with the victim, or with what is read, if it is due. */
    private int goOn(int free) {
        if (!pace.begin(spaceWanted || pace.isUrgent(free) || segments.pins().areAny())) {
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

    /** Whether something is to be gained by cleaning what is pinned now, so that it is too early to call the store full. */
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

    /** Whether a segment is being cleaned, or will be once it is not pinned, as of the last turn. For the agents of its server. */
    public boolean isBusy() {
        return busy || heldUp || relocation.victim() >= 0 || look.segment() >= 0;
    }

    /** Somebody lacks space, not segments: tombstones that can be dropped are to be dropped. */
    public void requestSpace() {
        spaceWanted = true;
    }

    /** Whether there may still come space from dropping tombstones. */
    public boolean isSpaceWanted() {
        return spaceWanted;
    }

    /** Takes on a segment with tombstones behind the horizon or, failing that, one that holds the horizon back. */
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
        // What another look will show soon is not copied.
        return beginLook() || !awaitsCommit() && begin(victims.holdingBack(horizonNow));
    }

    /** Whether the segment that holds the horizon back may turn out not to, once CommitVer has come a little further. */
    private boolean awaitsCommit() {
        final int oldest = victims.oldestHolder();
        return oldest >= 0 && look.isAwaiting(oldest);
    }

    /** Begins to read the segment that holds the horizon back: perhaps it need not. */
    private boolean beginLook() {
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
        // What a clear ended is not counted dead before it was swept, and must not be overlooked.
        horizonNow = sweepDone.getAsBoolean() ? segments.tombstoneHorizon() : 0;
    }

    private boolean isCleanable(int segment) {
        return segments.isClosed(segment)
                && segments.state(segment) == SegmentState.COMMITTED
                && !segments.damage().isSuspect(segment, segments.generation(segment))
                && (pinsOverlooked || !segments.pins().isPinned(segment))
                && !inQuarantine.test(segment);
    }

    /**
     * Takes on a segment of which hardly anything lives, although there are free ones: what is written next then goes where
     * memory was touched, and is cached, lately, and a large area with few objects does not grow to its capacity. Looks
     * once for each segment that is opened.
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

    /** Cleans one whole segment, if there is anything to gain; false if not. Not between two turns. */
    public boolean cleanOne() {
        lookAtHorizon();
        if (!beginBest(0)) {
            return false;
        }
        while (!relocation.step(segments.length())) {
            // There is more.
        }
        final boolean outOfRoom = relocation.isOutOfRoom();
        end();
        return !outOfRoom;
    }

    private boolean beginWorthiest(int free) {
        lookAtHorizon();
        if (horizonNow > 0 && victims.heldBack(horizonNow) >= segments.length()) {
            // What holds the horizon back may be a log that an idle worker keeps open.
            idleLogs.retireOlderThan(segments.lastSequence() - segments.count() / 4);
            final int chosen = victims.worthiest(horizonNow, pace.limit(free, segments.length()));
            if (isPoor(chosen) && beginLook()) {
                return true;
            }
        }
        return beginBest(free);
    }

    /** Whether copying what lives in that segment gives little back. */
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
        // What holds the horizon back may be a log that an idle worker keeps open.
        idleLogs.retireOlderThan(segments.lastSequence() - segments.count() / 4);
        return false;
    }

    private boolean begin(int segment) {
        if (segment < 0 || !fits(segment)) {
            return false; // not begun, since it could not be ended
        }
        relocating = true; // before the second look: whoever pins looks at this behind the pinning
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

    /** Bytes of live entries that were copied. */
    public long relocatedBytes() {
        return relocation.relocatedBytes();
    }

    /** Segments that were freed. */
    public long cleanedSegments() {
        return relocation.cleanedSegments();
    }

    public long tombstonesDropped() {
        return relocation.tombstonesDropped();
    }

    /** A segment that is half emptied stays as it is: what was copied is there twice, as after a crash. */
    @Override
    public void onClose() {
        relocation.log().retire();
    }
}
