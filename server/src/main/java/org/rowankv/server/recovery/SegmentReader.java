package org.rowankv.server.recovery;

import java.nio.ByteBuffer;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.digest.EntryAssembler;
import org.rowankv.server.log.CommitVector;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.KeyLocks;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A reader of an area's segments for a start: applies each valid entry to the shards' replicas, and records the
 * candidates, which may not be on all replicas. Entries take effect in any order, so several readers may read different
 * segments of one area concurrently; one reader belongs to one thread. The assembler is shared, and guards itself.
 */
final class SegmentReader implements SegmentScan.Visitor {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentReader.class);
    /** After a damaged word, whose length is uncertain, the next landing may begin at any stride. */
    private static final long ANYWHERE = -1;

    private final int serverId;
    private final Segments segments;
    private final Replicas replicas;
    private final EntryAssembler assembler;
    private final EntryAssembler.Handler handler;
    private final ErrorLog errors;
    private final boolean replicated;
    private final boolean placedBySenders;
    private final int lockOwner;
    private final SegmentScan scan;
    private final EntryCheck check;
    private final Candidates candidates;
    private final EntryBatch batch = new EntryBatch();
    private byte[] keyScratch = new byte[256];
    private int segment;
    /** Whether damage in the segment may be torn by a power cut, before anything in it was acknowledged. */
    private boolean mayBeTorn;
    /** Only at its end. */
    private boolean endsWithin;
    /** The end of the last entry found, or the segment's start: where the next landing begins, if any; or ANYWHERE. */
    private long next;
    /** The end of the last place with a word after {@link #next}, in a segment that may be torn. */
    private long tornEnd;

    private int charged;
    /** By shard: versions and numbers of entries of former replicas; void here, unless a recovery counts on them. */
    private final long[] formerNewest;

    private final long[] formerEntries;
    private long entries;
    private long tornEntries;
    private long damagedLandings;

    /**
     * @param handler receives blocks that are not needed
     * @param replicated whether other servers hold replicas too; otherwise there is none to collect from
     * @param placedBySenders whether a backup log may end with a WRITE that was cut off
     * @param lockOwner that takes the index locks: a different one for each reader
     */
    SegmentReader(
            int serverId,
            Segments segments,
            Replicas replicas,
            EntryAssembler assembler,
            EntryAssembler.Handler handler,
            ErrorLog errors,
            boolean replicated,
            boolean placedBySenders,
            int lockOwner) {
        this.placedBySenders = placedBySenders;
        this.serverId = serverId;
        this.segments = segments;
        this.replicas = replicas;
        this.assembler = assembler;
        this.handler = handler;
        this.errors = errors;
        this.replicated = replicated;
        this.lockOwner = lockOwner;
        this.scan = new SegmentScan(segments.region());
        this.check = new EntryCheck(segments.region());
        this.candidates = new Candidates(segments, replicas);
        this.formerNewest = new long[replicas.shardCount()];
        this.formerEntries = new long[replicas.shardCount()];
    }

    Candidates candidates() {
        return candidates;
    }

    /** Valid entries found so far. */
    long entries() {
        return entries;
    }

    /** Places that a power cut may have torn, so far. */
    long tornEntries() {
        return tornEntries;
    }

    /** Entries found so far of a shard that was held here formerly, and is not any more. */
    long formerEntries(int shard) {
        return formerEntries[shard];
    }

    /** The newest version among these. */
    long formerNewest(int shard) {
        return formerNewest[shard];
    }

    /** Entries that landed whole and are damaged, so far. */
    long damagedLandings() {
        return damagedLandings;
    }

    /** Reads a whole segment, and closes it; returns the number of valid entries found. */
    long read(int newSegment) {
        final long before = entries;
        segment = newSegment;
        charged = 0;
        final boolean isTorn = segments.area().mayBeTorn(segments.state(segment));
        endsWithin = !isTorn && mayEndWithin();
        mayBeTorn = isTorn || endsWithin;
        next = segments.area().addressOf(segment);
        tornEnd = next;
        scan.scan(segments.area().addressOf(segment), segments.length(), segments.generation(segment), this);
        if (mayBeTorn) {
            closeGap(Math.min(tornEnd, segments.area().addressOf(segment) + segments.length()));
        } else if (next != ANYWHERE) {
            lookBehindTheLast();
        }
        applyBatch();
        segments.close(segment, charged);
        Chaos.point("start.segment-read");
        return entries - before;
    }

    /** A card stores an entry from its first byte on, word first. What was acknowledged is in front of that, and whole. */
    private boolean mayEndWithin() {
        return placedBySenders
                && segments.owner(segment) == SegmentOwner.BACKUP
                && segments.state(segment) == SegmentState.USING;
    }

    @Override
    public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
        entries++;
        if (mayBeTorn) {
            if (endsWithin && address != next) {
                invisible(address); // WRITEs take effect in order: nothing is behind one that was cut off
            }
            closeGap(address);
        } else if (address != next && next != ANYWHERE) {
            invisible(address);
        }
        next = address + length;
        charged += segments.charge(length);
        if (type == EntryType.COMMIT_VECTOR) {
            for (int i = 0; i < CommitVector.count(buffer, at); i++) {
                final int shard = CommitVector.shard(buffer, at, i);
                if (replicas.has(shard)) {
                    replicas.get(shard).raiseCommitVersion(CommitVector.version(buffer, at, i));
                }
            }
            segments.markDead(address, length);
        } else if (isVoid(buffer, at)) {
            noteFormer(buffer, at, type);
            segments.markDead(address, length);
        } else if (type == EntryType.BLOCK) {
            synchronized (assembler) {
                assembler.block(address, length, handler);
            }
        } else {
            found(buffer, at, address, type, length);
        }
    }

    @Override
    public void onInvalid(long address, String reason) {
        if (mayBeTorn) {
            // An unacknowledged entry may be there in part. It is made void, or the cleaner could never process it.
            tornEntries++;
            tornEnd = Math.max(tornEnd, address + FrameDescriptor.length(wordAt(address)));
            LOG.debug("server {}: segment {}, address {}: {}", serverId, segment, address, reason);
            FrameDescriptor.giveUp(
                    segments.region().buffer(address), segments.region().offset(address));
            segments.area().flush(address, Long.BYTES);
            return;
        }
        if (check.isWrittenOff(address)) {
            // The scrubber of an earlier run has reported it.
            next = ANYWHERE;
            LOG.debug("server {}: segment {}, address {}: written off", serverId, segment, address);
            return;
        }
        if (isCommitVector(address)) {
            next = address + FrameDescriptor.length(wordAt(address));
        } else if (hasLanded(address)) {
            damagedLandings += replicated ? 1 : 0;
            next = ANYWHERE;
        }
        errors.reportExpected(
                "server " + serverId + ": scan of segment " + segment + " at "
                        + (address - segments.area().addressOf(segment)),
                new IllegalStateException(reason));
    }

    /**
     * Whether a place with an entry's word holds an entry that was once whole. Where nothing is torn, all stores before
     * the process ended are there; and in every log the word is stored last, after all of the entry. So the entry was
     * whole if the place was written: after a whole entry or at the start. No log has gaps, and no old word of the
     * segment has its generation. Words in the body of an unfinished or abandoned entry are bytes of some value.
     */
    private boolean hasLanded(long address) {
        return address == next || next == ANYWHERE;
    }

    /**
     * Each place gets a word before the next one is taken, so a gap before an entry hides an entry with a damaged word.
     */
    private void invisible(long address) {
        if (replicated) {
            damagedLandings++;
        }
        errors.reportExpected(
                "server " + serverId + ": scan of segment " + segment + " before "
                        + (address - segments.area().addressOf(segment)),
                new IllegalStateException("no publication word is there"));
    }

    /** The last entry of a log may have a damaged word without a following gap. The rest of its header reveals it. */
    private void lookBehindTheLast() {
        final long end = segments.area().addressOf(segment) + segments.length();
        final int type = check.typeBeforeAFlip(next, end, segments.generation(segment));
        if (type == 0 || type == EntryType.COMMIT_VECTOR) {
            return;
        }
        damagedLandings += replicated ? 1 : 0;
        errors.reportExpected(
                "server " + serverId + ": scan of segment " + segment + " at "
                        + (next - segments.area().addressOf(segment)),
                new IllegalStateException("a bit of the publication word has flipped"));
    }

    /**
     * Makes one void place of everything between the last whole entry and there. The word of a torn entry may be gone
     * too. This start commits the segment, and a later one treats a gap in a committed segment as damage.
     */
    private void closeGap(long end) {
        if (end <= next) {
            return;
        }
        final int strides = (int) ((end - next) / FrameDescriptor.STRIDE);
        FrameDescriptor.wordRelease(
                segments.region().buffer(next),
                segments.region().offset(next),
                FrameDescriptor.word(segments.generation(segment), strides, FrameDescriptor.VOID));
        segments.area().flush(next, Long.BYTES);
    }

    @Override
    public void onPlace(long address, int length) {
        if (address == next) {
            next = address + length;
        } else if (mayBeTorn) {
            tornEnd = Math.max(tornEnd, address + length);
        }
    }

    /**
     * Whether the header is intact, and that of a record of CommitVer: it holds nothing acknowledged, and without it
     * CommitVer is lower, so that more entries are candidates.
     */
    private boolean isCommitVector(long address) {
        final long end = segments.area().addressOf(segment) + segments.length();
        return FrameDescriptor.type(wordAt(address)) == EntryType.COMMIT_VECTOR
                && check.whyFrameInvalid(address, end, segments.generation(segment)) == null;
    }

    private long wordAt(long address) {
        return FrameDescriptor.wordPlain(
                segments.region().buffer(address), segments.region().offset(address));
    }

    private boolean isVoid(ByteBuffer buffer, int at) {
        final int shard = EntryDescriptor.shard(buffer, at);
        return !replicas.has(shard)
                || FrameDescriptor.tag(buffer, at) < replicas.get(shard).tenure();
    }

    private void noteFormer(ByteBuffer buffer, int at, int type) {
        final int shard = EntryDescriptor.shard(buffer, at);
        if (type == EntryType.BLOCK || shard >= formerEntries.length || replicas.has(shard)) {
            return;
        }
        final int tenure = segments.area().tenures().tenure(shard);
        if (tenure > 0 && FrameDescriptor.tag(buffer, at) >= tenure) {
            formerEntries[shard]++;
            formerNewest[shard] = Math.max(formerNewest[shard], EntryDescriptor.version(buffer, at));
        }
    }

    private void found(ByteBuffer buffer, int at, long address, int type, int length) {
        if (EntryType.isTombstone(type)) {
            segments.tombstone(segment, length, 0);
        }
        if (!EntryType.isKeyed(type)) {
            entry(buffer, at, address, type, length);
            return;
        }
        final ShardReplica replica = replicas.get(EntryDescriptor.shard(buffer, at));
        batch.add(replica.index(), positionOf(replica, buffer, at), address, type, length);
        if (batch.isFull()) {
            applyBatch();
        }
    }

    private void applyBatch() {
        batch.fetchBuckets();
        for (int i = 0; i < batch.size(); i++) {
            final long address = batch.address(i);
            entry(
                    segments.region().buffer(address),
                    segments.region().offset(address),
                    batch.position(i),
                    address,
                    batch.type(i),
                    batch.length(i));
        }
        batch.clear();
    }

    /** Applies an entry that was found, or assembled from blocks; as a tombstone it was counted already. */
    void entry(ByteBuffer buffer, int at, long address, int type, int length) {
        entry(buffer, at, positionOf(buffer, at, type), address, type, length);
    }

    private void entry(ByteBuffer buffer, int at, long position, long address, int type, int length) {
        final ShardReplica replica = apply(buffer, at, position, address, type, length);
        final long version = EntryDescriptor.version(buffer, at);
        if (replicated && version > replica.commitVersion() && type != EntryType.COMPLETION) {
            candidates.add(replica.shardId(), version, address);
        }
    }

    /** Applies an entry that every replica has, or will have. */
    ShardReplica apply(ByteBuffer buffer, int at, long address, int type, int length) {
        return apply(buffer, at, positionOf(buffer, at, type), address, type, length);
    }

    private ShardReplica apply(ByteBuffer buffer, int at, long position, long address, int type, int length) {
        final ShardReplica replica = replicas.get(EntryDescriptor.shard(buffer, at));
        // Other readers may find other entries of the key, or another copy of this one.
        final int stripe = KeyLocks.stripeOf(position);
        // Terminates: the other reader holds it for one entry.
        while (!replica.keyLocks().tryLock(stripe, lockOwner)) {
            Thread.yield(); // rare, and the other reader may have lost its processor
        }
        try {
            replica.apply(lockOwner, position, address, type, length);
            if (type == EntryType.COMPLETION) {
                replica.superseded().deadUnlessKept(buffer, at, address, length);
            }
        } finally {
            replica.keyLocks().unlock(stripe, lockOwner);
        }
        return replica;
    }

    private long positionOf(ByteBuffer buffer, int at, int type) {
        return EntryType.isKeyed(type) ? positionOf(replicas.get(EntryDescriptor.shard(buffer, at)), buffer, at) : 0;
    }

    private long positionOf(ShardReplica replica, ByteBuffer buffer, int at) {
        final int keyLength = EntryDescriptor.keyLength(buffer, at);
        if (keyLength > keyScratch.length) {
            keyScratch = new byte[Math.max(keyLength, 2 * keyScratch.length)];
        }
        return replica.positionOf(buffer, at, keyScratch);
    }

    /** Whether the entry at that address is not needed here: neither by an index nor for its response. */
    boolean isDead(long address) {
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(buffer, at));
        if (EntryType.isTombstone(type)) {
            return false;
        }
        final ShardReplica replica = replicas.get(EntryDescriptor.shard(buffer, at));
        final int flags = EntryDescriptor.flags(buffer, at);
        final long sessionId = EntryDescriptor.sessionId(buffer, at, flags);
        if (type == EntryType.SESSION_OPEN) {
            return !replica.sessions(sessionId).isOpening(sessionId, address);
        }
        final long sequence = EntryDescriptor.sequence(buffer, at, flags);
        return !(EntryType.isKeyed(type) && replica.index().refers(positionOf(replica, buffer, at), address))
                && !(sequence != 0 && replica.sessions(sessionId).isNeeded(sessionId, sequence, address));
    }

    /**
     * Whether that entry would change nothing here: its key has a newer one, and its outcome is known or never
     * requested.
     */
    boolean isOfNoUse(ByteBuffer entry, int at, int type) {
        if (!isPassed(entry, at, type)) {
            return false;
        }
        final int flags = EntryDescriptor.flags(entry, at);
        final long sequence = EntryDescriptor.sequence(entry, at, flags);
        final long sessionId = EntryDescriptor.sessionId(entry, at, flags);
        final ShardReplica replica = replicas.get(EntryDescriptor.shard(entry, at));
        return sequence == 0 || !replica.sessions(sessionId).lacksCompletion(sessionId, sequence);
    }

    /** Whether the index holds that entry already, or a newer one of its key, or a clear has ended it. */
    private boolean isPassed(ByteBuffer entry, int at, int type) {
        if (!EntryType.isKeyed(type)) {
            return false;
        }
        final ShardReplica replica = replicas.get(EntryDescriptor.shard(entry, at));
        if (EntryType.holdsObject(type)
                && EntryDescriptor.version(entry, at)
                        <= replica.clears().clearedUpTo(EntryDescriptor.cacheId(entry, at))) {
            return true;
        }
        final long found = replica.index().findKeyOf(positionOf(replica, entry, at), entry, at);
        return found == 0
                ? replica.isOver(EntryDescriptor.version(entry, at))
                : EntryDescriptor.version(
                                segments.region().buffer(found),
                                segments.region().offset(found))
                        >= EntryDescriptor.version(entry, at);
    }
}
