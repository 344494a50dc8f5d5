package org.rowankv.server.cleaning;

import java.nio.ByteBuffer;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/**
 * A scan of a segment that holds the tombstone horizon back, to find out whether it must. It must as long as something
 * in it was ended by a tombstone. But most dead entries were replaced: a newer object of the key, not a tombstone,
 * makes a start skip them. If that holds for everything in the segment, it needs no existing tombstone. Then the
 * segment counts as no older than the moment before the scan. Whatever ends one of its keys later is a tombstone with a
 * stamp that is not smaller than that.
 *
 * <p>CommitVer must have passed the newer object: then it is on all replicas, and as durable as a tombstone is. It
 * stays, or its replacement does.
 *
 * <p>A scan costs far less than copying, and writes nothing. In steps; owned by the cleaner, so no segment is freed
 * while an entry is compared.
 */
final class TombstoneHorizonScan implements SegmentScan.Visitor {
    /** The reason why a scan of a segment's use failed. */
    private static final class Failure {
        /** 0: none yet, since that is no generation. */
        int generation;
        /** Number of the last segment opened by then. */
        long asOf;
        /** The version that CommitVer had not passed, and its shard, if that was the only reason; else 0. */
        long awaitedVersion;

        int awaitedShard;
    }

    private final Segments segments;
    private final Replicas replicas;
    private final SegmentScan scan;
    /** By segment. */
    private final Failure[] failures;

    private byte[] keyScratch = new byte[256];
    private int segment = -1;
    private int generation;
    private long asOf;
    private int found;
    private boolean needed;
    private long awaitedVersion;
    private int awaitedShard;
    private final OwnedCounter raised = new OwnedCounter();

    TombstoneHorizonScan(Segments segments, Replicas replicas) {
        this.segments = segments;
        this.replicas = replicas;
        this.scan = new SegmentScan(segments.region());
        this.failures = new Failure[segments.count()];
        for (int s = 0; s < failures.length; s++) {
            failures[s] = new Failure();
        }
    }

    /** The segment being scanned, or −1. */
    int segment() {
        return segment;
    }

    /** Whether scanning that segment is worthwhile: it was never scanned in this use, or enough has changed since. */
    boolean isPromising(int candidate) {
        final Failure last = failures[candidate];
        return last.generation != segments.generation(candidate)
                || segments.lastSequence() - last.asOf > segments.count() / 4
                || last.awaitedVersion != 0 && commitVersion(last.awaitedShard) >= last.awaitedVersion;
    }

    /** Whether the scan of that segment failed only because of CommitVer, which still has not advanced far enough. */
    boolean isAwaiting(int candidate) {
        final Failure last = failures[candidate];
        return last.generation == segments.generation(candidate)
                && last.awaitedVersion != 0
                && commitVersion(last.awaitedShard) < last.awaitedVersion;
    }

    /** Nothing is awaited of a shard whose replica was given up. */
    private long commitVersion(int shard) {
        final ShardReplica replica = replicas.find(shard);
        return replica == null ? Long.MAX_VALUE : replica.commitVersion();
    }

    /** Begins with a closed and committed segment. */
    void begin(int newSegment) {
        segment = newSegment;
        generation = segments.generation(newSegment);
        // Before any read: anything ended later gets a stamp that is not smaller.
        asOf = segments.lastSequence();
        found = 0;
        needed = false;
        awaitedVersion = 0;
        scan.begin(segments.area().addressOf(newSegment), segments.length(), generation);
    }

    /** Reads about so many bytes; true when the result is known. */
    boolean step(int budget) {
        needed |= replicas.isJoining(); // entries still being copied here arrive in any order
        if (!needed) {
            scan.advance(budget, this);
        }
        return needed || scan.isDone();
    }

    /** Behind the last step: the horizon of the segment is raised, if it may be. */
    void finish() {
        final int read = segment;
        segment = -1;
        // What cannot be found cannot be known to be replaced.
        if (needed || awaitedVersion != 0 || found != segments.entryBytes(read)) {
            final Failure failure = failures[read];
            failure.generation = generation;
            failure.asOf = asOf;
            failure.awaitedVersion = needed ? 0 : awaitedVersion;
            failure.awaitedShard = awaitedShard;
            return;
        }
        segments.raiseHorizon(read, asOf);
        raised.add(1);
        Chaos.point("clean.horizon-raised");
    }

    /** Segments of which it turned out that they need not hold the horizon back. */
    long raised() {
        return raised.get();
    }

    @Override
    public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
        found += segments.charge(length);
        switch (type) {
            case EntryType.PUT, EntryType.TOUCH -> needed |= !isOutlived(buffer, at, address);
            case EntryType.SESSION_OPEN -> needed |= !isOpening(buffer, at, address);
            case EntryType.BLOCK -> needed = true; // of which key, it need not say
            default -> {
                // A tombstone is ended by nothing; neither is a completion, or what was read from a commit vector.
            }
        }
    }

    @Override
    public void onInvalid(long address, String reason) {
        needed = true;
    }

    /** Whether a start would find an object of the key that is as new as this entry, or newer. */
    private boolean isOutlived(ByteBuffer buffer, int at, long address) {
        final int shard = EntryDescriptor.shard(buffer, at);
        if (isForeign(buffer, at, shard)) {
            return false;
        }
        final ShardReplica replica = replicas.get(shard);
        final int keyLength = EntryDescriptor.keyLength(buffer, at);
        if (keyLength > keyScratch.length) {
            keyScratch = new byte[Math.max(keyLength, 2 * keyScratch.length)];
        }
        final long newest = replica.index().findKeyOf(replica.positionOf(buffer, at, keyScratch), buffer, at);
        if (newest == 0 || segments.damage().isLost(newest, segments.generation(segments.segmentOf(newest)))) {
            return false;
        }
        final MemoryRegion region = segments.region();
        final ByteBuffer other = region.buffer(newest);
        final int otherAt = region.offset(newest);
        final long version = EntryDescriptor.version(other, otherAt);
        if (newest != address && version > replica.commitVersion()) {
            awaitedVersion = version; // not yet, and soon
            awaitedShard = shard;
        }
        return version >= EntryDescriptor.version(buffer, at)
                && replica.isVisible(
                        FrameDescriptor.type(FrameDescriptor.wordAcquire(other, otherAt)),
                        EntryDescriptor.cacheId(other, otherAt),
                        version);
    }

    private boolean isForeign(ByteBuffer buffer, int at, int shard) {
        return !replicas.has(shard)
                || FrameDescriptor.tag(buffer, at) < replicas.get(shard).tenure();
    }

    private boolean isOpening(ByteBuffer buffer, int at, long address) {
        final int shard = EntryDescriptor.shard(buffer, at);
        final long sessionId = EntryDescriptor.sessionId(buffer, at, EntryDescriptor.flags(buffer, at));
        return !isForeign(buffer, at, shard)
                && replicas.get(shard).sessions(sessionId).isOpening(sessionId, address);
    }
}
