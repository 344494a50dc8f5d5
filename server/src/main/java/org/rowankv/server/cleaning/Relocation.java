package org.rowankv.server.cleaning;

import java.nio.ByteBuffer;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.DamagedEntries;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/**
 * The emptying of one segment at a time, in as many steps as its owner chooses. It copies live entries into the
 * cleaner's log, points the index to the copies, and frees the segment once they are persistent. Between two steps all
 * other components continue, but do not free a committed segment. Owned by the cleaner.
 *
 * <p>Live is what the index points to; a remembered or not yet droppable deletion; the opening of an open session; and
 * an entry whose completion a client may still request.
 */
final class Relocation implements SegmentScan.Visitor {
    private static final int LOCK_OWNER = (1 << 20) + 3;

    private final Segments segments;
    private final Replicas replicas;
    private final DamagedEntries damage;
    private final RetainedEntries kept;
    private final AppendLog log;
    private final SegmentScan scan;
    private final CompletionRecord completions = new CompletionRecord();
    private byte[] keyScratch = new byte[256];
    private int victim = -1;
    private long victimHorizon;
    private long horizonNow;
    private boolean outOfRoom;
    /** The charge of the entries found in the victim, and the number of invalid places that claim to be entries. */
    private int found;

    private int invalid;
    /** Of the victim, if it is freed in the end. */
    private int dropped;

    private long droppedBytes;
    private long spaceFreed;
    private long copiedTombstoneBytes;
    private final OwnedCounter relocatedBytes = new OwnedCounter();
    private final OwnedCounter cleanedSegments = new OwnedCounter();
    private final OwnedCounter tombstonesDropped = new OwnedCounter();

    /** @param kept copied whether they are live or not */
    Relocation(Segments segments, Replicas replicas, RetainedEntries kept) {
        this.segments = segments;
        this.kept = kept;
        this.replicas = replicas;
        this.damage = segments.damage();
        this.log = new AppendLog(segments, SegmentOwner.CLEAN);
        this.scan = new SegmentScan(segments.region());
    }

    AppendLog log() {
        return log;
    }

    /** The segment that is being emptied, or −1. */
    int victim() {
        return victim;
    }

    /** Begins with a segment. A tombstone of anything from before {@code horizon} is not needed any more. */
    void begin(int segment, long horizon) {
        victim = segment;
        horizonNow = horizon;
        victimHorizon = segments.horizon(segment);
        outOfRoom = false;
        found = 0;
        invalid = 0;
        dropped = 0;
        droppedBytes = 0;
        scan.begin(segments.area().addressOf(segment), segments.length(), segments.generation(segment));
        kept.begin(segment);
    }

    /** Processes about so many bytes of the victim; true when nothing is left to copy, or there is no room. */
    boolean step(int budget) {
        scan.advance(budget, this);
        return outOfRoom || scan.isDone();
    }

    /** There is no room for all copies: the rest is retried later. */
    boolean isOutOfRoom() {
        return outOfRoom;
    }

    /**
     * After the last step: frees the victim, if it was emptied, and forgets it.
     *
     * @param mayFree whether no reader needs it in place
     * @return whether it was freed
     */
    boolean finish(boolean mayFree) {
        final int segment = victim;
        victim = -1;
        Chaos.point("clean.before-drain");
        log.drain();
        Chaos.point("clean.before-free");
        // Not emptied: out of room, and the rest is retried; or a sender stalled in it; or it is damaged. Then its
        // tombstones stay in it, and the copied ones exist twice.
        final boolean whole = outOfRoom || isWhole(segment);
        final boolean emptied = !outOfRoom && whole && mayFree && segments.freeUnlessPinned(segment);
        segments.space().release(emptied ? spaceFreed : spaceFreed - copiedTombstoneBytes);
        spaceFreed = 0;
        copiedTombstoneBytes = 0;
        if (!emptied) {
            return false;
        }
        tombstonesDropped.add(dropped);
        segments.space().release(droppedBytes);
        cleanedSegments.add(1);
        return true;
    }

    /**
     * Whether all entries that were written were found, except those known not to be needed. An unreadable entry cannot
     * be copied: a damaged segment stays as it is.
     */
    private boolean isWhole(int segment) {
        final int missing = segments.entryBytes(segment) - found;
        if (damage.isAsExpected(segment, segments.generation(segment), invalid, missing)) {
            return true;
        }
        damage.suspect(segment, segments.generation(segment));
        return false;
    }

    @Override
    public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
        found += segments.charge(length);
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

    @Override
    public void onInvalid(long address, String reason) {
        invalid++;
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
        } else if (kept.isKept(address)) {
            copyDead(replica, buffer, at, address, type, length);
        } else {
            completion(buffer, at, address);
        }
    }

    /** A start must find the entry although it is dead: another replica may lack it, or request its response. */
    private void copyDead(ShardReplica replica, ByteBuffer buffer, int at, long address, int type, int length) {
        final long copy = copy(buffer, at, address, type, length, 0);
        if (copy == 0) {
            return;
        }
        // Its tombstone may have been written before the copy's segment was opened.
        segments.lowerHorizon(segments.segmentOf(copy), victimHorizon);
        if (moveCompletion(replica, buffer, at, address, copy)) {
            segments.markKept(copy);
            segments.markDead(address, length);
        } else {
            kept.copiedDead(copy, length);
        }
    }

    private void relocate(
            ShardReplica replica, long position, ByteBuffer buffer, int at, long address, int type, int length) {
        Chaos.point("clean.before-copy");
        final long copy = copy(buffer, at, address, type, length, stampOf(buffer, at, type));
        if (copy == 0) {
            return;
        }
        Chaos.point("clean.copied");
        if (EntryType.isTombstone(type)) {
            // Superseded or forgotten meanwhile, it is still kept until its horizon.
            replica.relocate(LOCK_OWNER, position, type, address, copy);
            copiedTombstoneBytes += segments.charge(length);
            moveCompletion(replica, buffer, at, address, copy);
        } else if (replica.relocate(LOCK_OWNER, position, type, address, copy)) {
            moveCompletion(replica, buffer, at, address, copy);
            // If the victim is not freed now, it holds back the copy's tombstone.
            segments.markDead(address, length);
        } else if (moveCompletion(replica, buffer, at, address, copy)) {
            // Superseded meanwhile, and kept for its response: now the copy dies with that.
            segments.lowerHorizon(segments.segmentOf(copy), victimHorizon);
            segments.markKept(copy);
            segments.markDead(address, length);
        } else {
            bornDead(copy, length); // superseded meanwhile, which freed its space
        }
        if (EntryType.holdsObject(type) && isCleared(replica, buffer, at)) {
            segments.lowerHorizon(segments.segmentOf(copy), victimHorizon); // the sweep will count it dead
        }
    }

    /**
     * Its tombstone may have been written before the copy's segment was opened, and must stay until the copy is gone.
     * (A copy that is live is ended by something later, whose stamp is not smaller than that segment's number.)
     */
    private void bornDead(long copy, int length) {
        segments.lowerHorizon(segments.segmentOf(copy), victimHorizon);
        segments.markDead(copy, length);
    }

    private static boolean isCleared(ShardReplica replica, ByteBuffer buffer, int at) {
        return EntryDescriptor.version(buffer, at) <= replica.clears().clearedUpTo(EntryDescriptor.cacheId(buffer, at));
    }

    /** Whether the entry is kept for its completion alone. */
    private static boolean moveCompletion(ShardReplica replica, ByteBuffer buffer, int at, long from, long to) {
        final int flags = EntryDescriptor.flags(buffer, at);
        final long sequence = EntryDescriptor.sequence(buffer, at, flags);
        final long sessionId = EntryDescriptor.sessionId(buffer, at, flags);
        return sequence != 0 && replica.sessions(sessionId).completionMoved(sessionId, sequence, from, to);
    }

    private long stampOf(ByteBuffer buffer, int at, int type) {
        return EntryType.isTombstone(type) ? segments.effectiveStamp(victim, FrameDescriptor.stamp(buffer, at)) : 0;
    }

    /** Drops a tombstone that the index does not hold any more, once nothing is left that it ends. */
    private void tombstone(ByteBuffer buffer, int at, long address, int type, int length) {
        if (isForeign(buffer, at)) {
            return;
        }
        final long stamp = stampOf(buffer, at, type);
        final ShardReplica replica = replicaOf(buffer, at);
        if (stamp < horizonNow) {
            dropTombstone(replica, buffer, at, address, length);
            return;
        }
        final long copy = copy(buffer, at, address, type, length, stamp);
        if (copy != 0) {
            copiedTombstoneBytes += segments.charge(length);
            moveCompletion(replica, buffer, at, address, copy);
        }
    }

    /** Nothing is left that it ends; only its response may still be requested, for which a record suffices. */
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
            replica.sessions(sessionId).keep(sessionId, sequence, address, 0); // still a tombstone
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
            if (kept.isKept(address)) {
                copyDead(replica, buffer, at, address, type, length);
            }
            return;
        }
        final long copy = copy(buffer, at, address, type, length, 0);
        if (copy == 0) {
            return;
        }
        if (replica.sessions(sessionId).openingMoved(sessionId, address, copy)) {
            // If the victim is not freed now, it holds back the end of the session.
            segments.markDead(address, length);
        } else {
            bornDead(copy, length);
        }
    }

    /** Keeps a dead entry whose response may still be requested, as a record that is never indexed. */
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
            if (keptBefore > 0 && !EntryType.isTombstone(FrameDescriptor.type(FrameDescriptor.wordPlain(buffer, at)))) {
                segments.markDead(address, keptBefore); // in case the victim is not freed now
            }
        }
    }

    private long copy(ByteBuffer buffer, int at, long address, int type, int length, long stamp) {
        if (!log.ensureRoomForCopy(length)) {
            outOfRoom = true;
            return 0;
        }
        relocatedBytes.add(length);
        final long copy = log.appendCopy(buffer, at, length, type, FrameDescriptor.tag(buffer, at), stamp);
        kept.moved(address, copy);
        return copy;
    }

    long relocatedBytes() {
        return relocatedBytes.get();
    }

    long cleanedSegments() {
        return cleanedSegments.get();
    }

    long tombstonesDropped() {
        return tombstonesDropped.get();
    }
}
