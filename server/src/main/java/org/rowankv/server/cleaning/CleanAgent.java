package org.rowankv.server.cleaning;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Agent;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.pm.SegmentOwner;
import org.rowankv.server.pm.SegmentState;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/**
 * Garbage collection of segments (§4.4 of the paper), in its first form: when free segments become few, takes the
 * committed segment with the fewest live bytes, copies what is live into a clean segment, lets the index point there, and
 * frees it.
 *
 * <p>Live is what the index points to; a remembered or not yet dropped deletion; the opening of an open session; and an
 * entry whose completion a client may still ask for. The copies are persistent before the source is free.
 */
public final class CleanAgent implements Agent, SegmentScan.Visitor {
    private static final int LOCK_OWNER = (1 << 20) + 3;
    /** Of a segment that is cleaned although nobody needs it, this part lives at most: one byte is copied for seven. */
    private static final int NEARLY_EMPTY = 8;

    /** Closes t-log segments that idle workers keep open and that hold the horizon back. */
    @FunctionalInterface
    public interface IdleLogs {
        void retireOlderThan(int sequence);
    }

    private final Segments segments;
    private final Replicas replicas;
    private final IntPredicate inQuarantine;
    private final IdleLogs idleLogs;
    private final BooleanSupplier sweepDone;
    private final BooleanSupplier quiet;
    private final ErrorLog errors;
    private final AppendLog log;
    private final SegmentScan scan;
    private final Victims victims;
    private final CompletionRecord completions = new CompletionRecord();
    private final int lowWater;
    private final int highWater;
    private final BitSet damaged = new BitSet();
    private byte[] keyScratch = new byte[256];
    private volatile boolean cleaning;
    private boolean busy;
    private volatile boolean spaceWanted;
    private int lookedAt;
    private int victim;
    private int victimHorizon;
    private int horizonNow;
    private boolean outOfRoom;
    /** Of the victim, if it is freed in the end. */
    private int dropped;

    private long droppedBytes;
    private long spaceFreed;
    private long copiedTombstoneBytes;
    private final OwnedCounter relocatedBytes = new OwnedCounter();
    private final OwnedCounter cleanedSegments = new OwnedCounter();
    private final OwnedCounter tombstonesDropped = new OwnedCounter();

    /**
     * @param inQuarantine whether a segment must be left alone: a sender names it
     * @param sweepDone whether all that clears have ended is removed from the indexes
     * @param quiet whether no segment waits to be digested or committed, so that no more can be cleaned soon
     * @param lowWater free segments below which cleaning begins
     * @param highWater free segments at which it ends
     */
    public CleanAgent(
            Segments segments,
            Replicas replicas,
            IntPredicate inQuarantine,
            IdleLogs idleLogs,
            BooleanSupplier sweepDone,
            BooleanSupplier quiet,
            ErrorLog errors,
            int lowWater,
            int highWater) {
        this.segments = segments;
        this.replicas = replicas;
        this.inQuarantine = inQuarantine;
        this.idleLogs = idleLogs;
        this.sweepDone = sweepDone;
        this.quiet = quiet;
        this.errors = errors;
        this.log = new AppendLog(segments, SegmentOwner.CLEAN);
        this.victims = new Victims(segments, this::isCleanable);
        this.scan = new SegmentScan(segments.region());
        this.lowWater = lowWater;
        this.highWater = highWater;
    }

    @Override
    public String roleName() {
        return "clean";
    }

    @Override
    public int doWork() {
        final int free = segments.freeCount();
        if (free <= lowWater) {
            cleaning = true;
        } else if (free >= highWater) {
            cleaning = false;
        }
        if (cleaning ? cleanOne() : cleanNearlyEmpty()) {
            busy = true;
            return 1;
        }
        busy = false;
        if (!spaceWanted) {
            return 0;
        }
        // Asked first: what is committed in between can be cleaned.
        final boolean nothingToCome = quiet.getAsBoolean();
        if (dropTombstones()) {
            return 1;
        }
        if (nothingToCome) {
            spaceWanted = false;
        }
        return 0;
    }

    /** Whether the last turn cleaned for want of free segments. For the agents of its server. */
    public boolean isBusy() {
        return busy;
    }

    /** Somebody lacks space, not segments: tombstones that can be dropped are to be dropped. */
    public void wantSpace() {
        spaceWanted = true;
    }

    /** Whether there may still come space from dropping tombstones. */
    public boolean isSpaceWanted() {
        return spaceWanted;
    }

    /** Cleans a segment with tombstones behind the horizon or, failing that, one that holds the horizon back. */
    private boolean dropTombstones() {
        lookAtHorizon();
        final int richest = victims.richestInTombstones(horizonNow);
        if (richest >= 0) {
            return clean(richest);
        }
        idleLogs.retireOlderThan(segments.lastSequence());
        if (log.openSegment() >= 0 && segments.deadBytes(log.openSegment()) > 0) {
            log.retire();
        }
        final int holding = victims.holdingBack(horizonNow);
        return holding >= 0 && clean(holding);
    }

    private void lookAtHorizon() {
        // What a clear ended is not counted dead before it was swept, and must not be overlooked.
        horizonNow = sweepDone.getAsBoolean() ? segments.tombstoneHorizon() : 0;
    }

    private boolean isCleanable(int segment) {
        return segments.isClosed(segment)
                && segments.state(segment) == SegmentState.COMMITTED
                && !damaged.get(segment)
                && !inQuarantine.test(segment);
    }

    /**
     * Cleans a segment of which hardly anything lives, although there are free ones: what is written next then goes where
     * memory was touched, and is cached, lately, and a large area with few objects does not grow to its capacity. Looks
     * once for each segment that is opened.
     */
    private boolean cleanNearlyEmpty() {
        final int opened = segments.lastSequence();
        if (opened == lookedAt) {
            return false;
        }
        lookAtHorizon();
        final int chosen = victims.emptiest(horizonNow);
        if (chosen >= 0
                && segments.liveBytes(chosen, horizonNow) <= segments.length() / NEARLY_EMPTY
                && clean(chosen)) {
            return true;
        }
        lookedAt = opened;
        return false;
    }

    /** Cleans one segment, if there is anything to gain; false if not. */
    public boolean cleanOne() {
        lookAtHorizon();
        final int emptiest = victims.emptiest(horizonNow);
        final int chosen = emptiest >= 0 ? emptiest : victims.holdingBack(horizonNow);
        if (chosen < 0) {
            // What holds the horizon back may be a log that an idle worker keeps open.
            idleLogs.retireOlderThan(segments.lastSequence() - segments.count() / 4);
            return false;
        }
        return clean(chosen);
    }

    private boolean clean(int segment) {
        if (segments.freeCount() == 0 && log.room() < segments.liveBytes(segment, horizonNow)) {
            return false; // not begun, since it could not be ended
        }
        victim = segment;
        victimHorizon = segments.horizon(segment);
        outOfRoom = false;
        dropped = 0;
        droppedBytes = 0;
        scan.scan(segments.area().addressOf(segment), segments.length(), segments.generation(segment), this);
        log.drain();
        Chaos.point("clean.before-free");
        // Not emptied: out of room, and the rest is tried again; or a sender stopped in it; or it is damaged. Then its
        // tombstones stay in it, and the copied ones are there twice.
        final boolean emptied = !outOfRoom && !damaged.get(segment) && !inQuarantine.test(segment);
        segments.space().giveBack(emptied ? spaceFreed : spaceFreed - copiedTombstoneBytes);
        spaceFreed = 0;
        copiedTombstoneBytes = 0;
        if (!emptied) {
            return !outOfRoom; // it is passed over from now on, or while a sender names it
        }
        tombstonesDropped.add(dropped);
        segments.space().giveBack(droppedBytes);
        segments.free(segment);
        cleanedSegments.add(1);
        return true;
    }

    @Override
    public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
        if (outOfRoom) {
            return;
        }
        switch (type) {
            case EntryType.PUT, EntryType.TOUCH, EntryType.DELETE -> keyed(buffer, at, address, type, length);
            case EntryType.CLEAR, EntryType.SESSION_CLOSE -> tombstone(buffer, at, address, type, length);
            case EntryType.SESSION_OPEN -> sessionOpen(buffer, at, address, type, length);
            case EntryType.COMPLETION -> completion(buffer, at, address);
            default -> {
                // Commit vectors and blocks are dead once they are digested.
            }
        }
    }

    /** What cannot be read cannot be copied: the segment stays as it is, and is not cleaned again. */
    @Override
    public void onInvalid(long address, String reason) {
        damaged.set(victim);
        errors.report(
                "cleaning of segment " + victim + " at "
                        + (address - segments.area().addressOf(victim)),
                new IllegalStateException(reason));
    }

    private ShardReplica replicaOf(ByteBuffer buffer, int at) {
        return replicas.get(EntryDescriptor.shard(buffer, at));
    }

    private boolean isForeign(ByteBuffer buffer, int at) {
        final int shard = EntryDescriptor.shard(buffer, at);
        return !replicas.has(shard)
                || FrameDescriptor.tag(buffer, at) < replicas.get(shard).tenure();
    }

    private void keyed(ByteBuffer buffer, int at, long address, int type, int length) {
        if (isForeign(buffer, at)) {
            return;
        }
        final ShardReplica replica = replicaOf(buffer, at);
        final int keyLength = EntryDescriptor.keyLength(buffer, at);
        if (keyLength > keyScratch.length) {
            keyScratch = new byte[Math.max(keyLength, 2 * keyScratch.length)];
        }
        final long position = replica.positionOf(buffer, at, keyScratch);
        if (replica.index().refers(position, address)) {
            relocate(replica, position, buffer, at, address, type, length);
        } else if (type == EntryType.DELETE) {
            tombstone(buffer, at, address, type, length);
        } else {
            completion(buffer, at, address);
        }
    }

    private void relocate(
            ShardReplica replica, long position, ByteBuffer buffer, int at, long address, int type, int length) {
        Chaos.point("clean.before-copy");
        final long copy = copy(buffer, at, type, length, stampOf(buffer, at, type));
        if (copy == 0) {
            return;
        }
        Chaos.point("clean.copied");
        if (EntryType.isTombstone(type)) {
            // Superseded or forgotten meanwhile, it is kept all the same until its horizon.
            replica.relocate(LOCK_OWNER, position, type, address, copy);
            copiedTombstoneBytes += segments.charge(length);
            moveCompletion(replica, buffer, at, address, copy);
        } else if (replica.relocate(LOCK_OWNER, position, type, address, copy)) {
            moveCompletion(replica, buffer, at, address, copy);
            // Should the victim not be freed now, it holds back what ends the copy.
            segments.markDead(address, length);
        } else {
            bornDead(copy, length); // superseded meanwhile, and its space was given back by that
            moveCompletion(replica, buffer, at, address, copy);
        }
        if (EntryType.holdsObject(type) && isCleared(replica, buffer, at)) {
            segments.lowerHorizon(segments.segmentOf(copy), victimHorizon); // the sweep will count it dead
        }
    }

    /**
     * What ended it may have been written before the copy's segment was opened, and may go only when the copy is gone. (A
     * copy that lives is ended by something later, whose stamp is not smaller than that segment's number.)
     */
    private void bornDead(long copy, int length) {
        segments.lowerHorizon(segments.segmentOf(copy), victimHorizon);
        segments.markDead(copy, length);
    }

    private static boolean isCleared(ShardReplica replica, ByteBuffer buffer, int at) {
        return EntryDescriptor.version(buffer, at) <= replica.clears().clearedUpTo(EntryDescriptor.cacheId(buffer, at));
    }

    private static void moveCompletion(ShardReplica replica, ByteBuffer buffer, int at, long from, long to) {
        final int flags = EntryDescriptor.flags(buffer, at);
        final long sequence = EntryDescriptor.sequence(buffer, at, flags);
        if (sequence != 0) {
            final long sessionId = EntryDescriptor.sessionId(buffer, at, flags);
            replica.sessions(sessionId).completionMoved(sessionId, sequence, from, to);
        }
    }

    private int stampOf(ByteBuffer buffer, int at, int type) {
        return EntryType.isTombstone(type) ? segments.effectiveStamp(victim, FrameDescriptor.stamp(buffer, at)) : 0;
    }

    /** A tombstone that the index does not know any more goes when nothing is left that it ends. */
    private void tombstone(ByteBuffer buffer, int at, long address, int type, int length) {
        if (isForeign(buffer, at)) {
            return;
        }
        final int stamp = stampOf(buffer, at, type);
        final ShardReplica replica = replicaOf(buffer, at);
        if (stamp < horizonNow) {
            dropTombstone(replica, buffer, at, address, length);
            return;
        }
        final long copy = copy(buffer, at, type, length, stamp);
        if (copy != 0) {
            copiedTombstoneBytes += segments.charge(length);
            moveCompletion(replica, buffer, at, address, copy);
        }
    }

    /** Nothing is left that it ends; only its answer may still be asked for, and for that a record will do. */
    private void dropTombstone(ShardReplica replica, ByteBuffer buffer, int at, long address, int length) {
        final int flags = EntryDescriptor.flags(buffer, at);
        final long sequence = EntryDescriptor.sequence(buffer, at, flags);
        final long sessionId = EntryDescriptor.sessionId(buffer, at, flags);
        if (sequence == 0 || !replica.sessions(sessionId).keep(sessionId, sequence, address, length)) {
            droppedBytes += segments.charge(length);
            dropped++;
            return;
        }
        completion(buffer, at, address);
        if (outOfRoom) {
            replica.sessions(sessionId).keep(sessionId, sequence, address, 0); // it is a tombstone still
        } else {
            copiedTombstoneBytes += segments.charge(length);
        }
    }

    private void sessionOpen(ByteBuffer buffer, int at, long address, int type, int length) {
        if (isForeign(buffer, at)) {
            return;
        }
        final ShardReplica replica = replicaOf(buffer, at);
        final long sessionId = EntryDescriptor.sessionId(buffer, at, EntryDescriptor.flags(buffer, at));
        if (!replica.sessions(sessionId).isOpening(sessionId, address)) {
            return;
        }
        final long copy = copy(buffer, at, type, length, 0);
        if (copy == 0) {
            return;
        }
        if (replica.sessions(sessionId).openingMoved(sessionId, address, copy)) {
            // Should the victim not be freed now, it holds back the end of the session.
            segments.markDead(address, length);
        } else {
            bornDead(copy, length);
        }
    }

    /** A dead entry, whose answer may still be asked for: it stays as a record that is never indexed. */
    private void completion(ByteBuffer buffer, int at, long address) {
        if (isForeign(buffer, at)) {
            return;
        }
        final ShardReplica replica = replicaOf(buffer, at);
        final int flags = EntryDescriptor.flags(buffer, at);
        final long sessionId = EntryDescriptor.sessionId(buffer, at, flags);
        final long sequence = EntryDescriptor.sequence(buffer, at, flags);
        if (sequence == 0 || !replica.sessions(sessionId).isNeeded(sessionId, sequence, address)) {
            return;
        }
        final long copy = completions.append(log, buffer, at);
        if (copy == 0) {
            outOfRoom = true;
            return;
        }
        final int keptBefore = replica.sessions(sessionId)
                .completionRecorded(sessionId, sequence, address, copy, completions.length());
        if (keptBefore < 0) {
            segments.markDead(copy, completions.length());
        } else {
            spaceFreed += (keptBefore == 0 ? 0 : segments.charge(keptBefore)) - segments.charge(completions.length());
        }
    }

    private long copy(ByteBuffer buffer, int at, int type, int length, int stamp) {
        if (!log.ensureRoom(length)) {
            outOfRoom = true;
            return 0;
        }
        relocatedBytes.add(length);
        return log.appendCopy(buffer, at, length, type, FrameDescriptor.tag(buffer, at), stamp);
    }

    public long relocatedBytes() {
        return relocatedBytes.get();
    }

    public long cleanedSegments() {
        return cleanedSegments.get();
    }

    public long tombstonesDropped() {
        return tombstonesDropped.get();
    }

    /** Whether it is at work or about to be. */
    public boolean isCleaning() {
        return cleaning;
    }

    @Override
    public void onClose() {
        log.retire();
    }
}
