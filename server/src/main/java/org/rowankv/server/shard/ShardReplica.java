package org.rowankv.server.shard;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Version;
import org.rowankv.server.index.ShardIndex;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.session.SessionImage;
import org.rowankv.server.session.SessionTable;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.PartKeys;
import org.rowankv.topology.ShardMap;

/**
 * One shard's replica on one server, primary or backup: index, clears, sessions, versions. All entries of the shard
 * take effect here by {@link #apply}, whichever component read or wrote them (worker, digest, scan, collect). So one
 * rule decides between entries of a key: the larger version wins.
 *
 * <p>Thread-safe by the index's lock and the parts' own rules. On a primary two entries of one key are never applied at
 * the same time, since the key's lock is held.
 */
public final class ShardReplica {
    /** Found while the log is read: dead, unless its response may still be requested, which is checked afterwards. */
    private static final int LATE = Integer.MIN_VALUE;

    private final int shardId;
    private final int shardCount;
    private final KeyHash keyHash;
    private final Segments segments;
    private final ShardIndex index;
    private final SupersededEntries superseded;
    private final ShardSessions sessions;
    private final KeyLocks keyLocks = new KeyLocks();
    private final Clears clears = new Clears();
    private final CacheCounts counts = new CacheCounts();
    private final TombstoneMap deletions = new TombstoneMap();
    private final ShardTail tail;
    private ShardChanges changes;
    private final ReplicaVersions versions = new ReplicaVersions();
    private final int tenure;

    /** Until the copy of the entries from before this server's tenure is complete. */
    private volatile boolean joining;

    /** Until requests are served. After that, the cache line of these fields is hardly written. */
    private boolean recovering = true;

    /** While the log behind a checkpoint is read. */
    private @Nullable CheckpointBound checkpoint;

    /** @param tenure the epoch at which this server's membership of the shard began; older entries are void */
    public ShardReplica(int shardId, int shardCount, KeyHash keyHash, Segments segments, int tenure) {
        this.shardId = shardId;
        this.shardCount = shardCount;
        this.keyHash = keyHash;
        this.segments = segments;
        this.index = new ShardIndex(segments.region());
        this.sessions = new ShardSessions(segments);
        this.superseded = new SupersededEntries(segments, sessions);
        this.tenure = tenure;
        this.tail = new ShardTail(segments);
        this.changes = new ShardChanges(shardCount);
    }

    public int shardId() {
        return shardId;
    }

    public int tenure() {
        return tenure;
    }

    public ShardIndex index() {
        return index;
    }

    public ShardSessions sessions() {
        return sessions;
    }

    /** The table that holds the session, if it is open. */
    public SessionTable sessions(long sessionId) {
        return sessions.of(sessionId);
    }

    /**
     * Begins reading the log: entries arrive in any order. An interrupted cleaner leaves two copies of an entry; the
     * one in the segment that was opened later is kept, in whatever order they arrive. So what is left in the cleaner's
     * victim does not grow.
     */
    public void beginScan() {
        sessions.beginScan(this::isLaterCopy);
    }

    private boolean isLaterCopy(long address, long other) {
        return segments.sequence(segments.segmentOf(address)) > segments.sequence(segments.segmentOf(other));
    }

    /** All entries of the log were read. */
    public void endScan() {
        sessions.endScan();
    }

    /**
     * Entries from before this server's tenure are still being copied here, and arrive in any order among new ones.
     * Call before any other use of the replica.
     */
    public void beginJoining() {
        recovering = false;
        joining = true;
        sessions.beginScan();
    }

    /** Whether acknowledged entries may be missing here. */
    public boolean isJoining() {
        return joining;
    }

    /** Whether an entry is from before this tenure, and copied here: then no space was acquired for it. */
    public boolean isCopied(long version) {
        return joining && version < Version.of(tenure, 0);
    }

    /**
     * The copy is complete and digested. Called by the digest agent.
     *
     * @return bytes of space freed by it
     */
    public int joined(int owner) {
        final int freed = sessions.endScan();
        // Deletions from before the tenure were never seen here.
        deletions.forgetUnseen(Version.of(tenure, 0));
        joining = false;
        forgetDeletions(owner);
        return freed;
    }

    public KeyLocks keyLocks() {
        return keyLocks;
    }

    public Clears clears() {
        return clears;
    }

    public CacheCounts counts() {
        return counts;
    }

    public TombstoneMap deletions() {
        return deletions;
    }

    /** On a backup: the entries above CommitVer. */
    public ShardTail tail() {
        return tail;
    }

    /**
     * Begins a new change stream: what a subscriber had seen of an earlier one is below its floor. Call before this
     * server's role as the primary is in force.
     */
    public void beginChanges() {
        changes = new ShardChanges(shardCount);
    }

    /** Continues an earlier change stream of this shard. Call before the server serves. */
    public void continueChanges(ShardChanges earlier) {
        changes = earlier;
    }

    /** This shard's change stream, while this server is its primary. */
    public ShardChanges changes() {
        return changes;
    }

    /**
     * CommitVer: every entry with a version ≤ it is on all replicas. On a backup, the last value that the primary sent.
     */
    public long commitVersion() {
        return versions.committed();
    }

    /** Monotone: a lower version has no effect. */
    public void raiseCommitVersion(long version) {
        versions.raiseCommitted(version);
    }

    public ReplicaVersions versions() {
        return versions;
    }

    /** {@link ShardIndex#findLikely} for the key of a request. */
    public long findLikely(long position, long refused, Request request) {
        return index.findLikely(
                position, refused, request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
    }

    /** {@link ShardIndex#refers} for the key of a request. */
    public boolean refers(long position, long address, Request request) {
        return index.refers(
                position, address, request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
    }

    /** The position of a hash in this shard. */
    public long positionOf(long hash) {
        return ShardMap.positionOf(hash, shardCount);
    }

    /** The keys of parts in it. */
    public PartKeys partKeys() {
        return new PartKeys(keyHash, shardCount);
    }

    /** The position of the key of an entry; its key is copied into {@code scratch}, which must be long enough. */
    public long positionOf(ByteBuffer entry, int at, byte[] scratch) {
        return positionOf(hashOf(entry, at, scratch));
    }

    /** The hash of the key of an entry; its key is copied into {@code scratch}, which must be long enough. */
    public long hashOf(ByteBuffer entry, int at, byte[] scratch) {
        final int length = EntryDescriptor.keyLength(entry, at);
        entry.get(at + EntryDescriptor.headerLength(EntryDescriptor.flags(entry, at)), scratch, 0, length);
        return keyHash.hash(EntryDescriptor.cacheId(entry, at), scratch, 0, length);
    }

    /**
     * Applies an entry that lies at {@code address}.
     *
     * @param position of its key; ignored for an entry without one
     * @param owner that takes the index lock
     * @return bytes of space freed by it: of older entries, or of itself when it is not new
     */
    public int apply(int owner, long position, long address, int type, int length) {
        return apply(owner, position, 0, 0, address, type, length);
    }

    /**
     * As above, for the holder of the key's lock.
     *
     * @param known address of the key's newest entry as the caller found it, or 0
     * @param knownGeneration of that segment at that time
     */
    public int apply(int owner, long position, long known, int knownGeneration, long address, int type, int length) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final long version = EntryDescriptor.version(entry, at);
        final int outcome = switch (type) {
            case EntryType.PUT, EntryType.TOUCH, EntryType.DELETE ->
                applyKeyed(owner, position, known, knownGeneration, entry, at, address, type, length, version);
            case EntryType.CLEAR -> applyClear(entry, at, version);
            case EntryType.SESSION_OPEN -> sessions.open(entry, at, address, length, checkpoint);
            case EntryType.SESSION_CLOSE -> sessions.close(entry, at, version, superseded::ofOpening);
            case EntryType.COMPLETION -> 0;
            default -> throw new AssertionError("an entry of " + EntryType.name(type) + " is not applied");
        };
        final int released = sessions.complete(entry, at, address, version);
        final int freed = outcome == LATE ? superseded.deadUnlessKept(entry, at, address, length) : outcome;
        if (recovering) {
            versions.raiseFound(version);
        }
        return freed + released;
    }

    private int applyKeyed(
            int owner,
            long position,
            long known,
            int knownGeneration,
            ByteBuffer entry,
            int at,
            long address,
            int type,
            int length,
            long version) {
        final int freed;
        index.lock(owner);
        try {
            final long existing =
                    isStill(position, known, knownGeneration) ? known : index.findKeyOf(position, entry, at);
            if (existing != 0
                    && existing != address
                    && !superseded.isLost(existing)
                    && superseded.versionAt(existing) >= version
                    && isBelieved(existing, known)) {
                final boolean repeated = superseded.versionAt(existing) == version;
                return repeated && recovering && EntryType.holdsObject(type) && isLaterCopy(address, existing)
                        ? preferCopy(position, existing, address, length)
                        : repeatedOrLate(entry, at, address, type, length, repeated);
            }
            if (existing != address && isOver(version)) {
                return repeatedOrLate(entry, at, address, type, length, false);
            }
            if (EntryType.holdsObject(type) && version <= clears.clearedUpTo(EntryDescriptor.cacheId(entry, at))) {
                return existing == address ? 0 : recovering ? LATE : superseded.dead(address, length);
            }
            if (existing == address) {
                freed = 0; // applied before by a thread that failed, perhaps before the steps below
            } else {
                // Read while the index still points there: afterwards the cleaner may free its segment at any time.
                final int oldLength = existing == 0 ? 0 : superseded.soundLength(existing);
                final int oldCharge = superseded.objectCharge(existing, oldLength);
                counts.ensure(EntryDescriptor.cacheId(entry, at));
                freed = superseded.of(existing, oldLength);
                boolean put = false;
                try {
                    if (existing == 0 || !index.replace(position, existing, address)) {
                        index.put(position, address);
                    }
                    put = true;
                } finally {
                    // Together with the index, even when its growth ran out of memory after the put.
                    if (put || index.refers(position, address)) {
                        count(entry, at, type, oldCharge, EntryType.holdsObject(type) ? segments.charge(length) : 0);
                    }
                }
            }
        } finally {
            index.unlock();
        }
        if (type == EntryType.DELETE) {
            deletions.remember(position, address, version);
        }
        return freed;
    }

    /**
     * Whether an entry of the index is as new as its version says: one flipped bit makes an old one larger. The holder of
     * the key's lock writes the newest entry in any case; and so does the log behind a checkpoint, which names entries
     * that this start has not read. What the scan of a start has read is whole. A backup keeps what is damaged, which then
     * is repaired.
     */
    private boolean isBelieved(long existing, long known) {
        final boolean isRead = recovering ? checkpoint == null : known == 0;
        return isRead || superseded.isSound(existing);
    }

    private void count(ByteBuffer entry, int at, int type, int oldCharge, int newCharge) {
        final int cacheId = EntryDescriptor.cacheId(entry, at);
        counts.replaced(cacheId, oldCharge, newCharge);
        if (type == EntryType.DELETE
                && oldCharge > 0
                && !recovering
                && ResultBits.has(EntryDescriptor.resultBits(EntryDescriptor.flags(entry, at)), ResultBits.EVICTED)) {
            counts.evicted(cacheId);
        }
    }

    /** Whether the index still points to that address in that generation of its segment. The index is locked. */
    private boolean isStill(long position, long address, int generation) {
        return address != 0
                && segments.generation(segments.segmentOf(address)) == generation
                && index.refers(position, address);
    }

    /** Points the index to the copy. Its completion, if needed, follows; so the other copy is dead. */
    private int preferCopy(long position, long from, long to, int length) {
        if (!index.relocate(position, from, to)) {
            throw new AssertionError("the index does not point to " + from);
        }
        return superseded.dead(from, length);
    }

    /** An entry without effect: the key has one as new or newer. */
    private int repeatedOrLate(ByteBuffer entry, int at, long address, int type, int length, boolean repeated) {
        if (recovering && !EntryType.isTombstone(type)) {
            return LATE;
        }
        final int freed = EntryType.isTombstone(type) ? 0 : superseded.dead(address, length);
        // A repeated append acquired no space, so it frees none, except for a type that counts whenever it lands.
        final boolean drawn = (EntryDescriptor.flags(entry, at) & EntryDescriptor.WITHOUT_SPACE) == 0
                && !isCopied(EntryDescriptor.version(entry, at));
        return repeated && drawn ? 0 : freed;
    }

    /**
     * Points the index to a copy of an entry, if it still points to the entry itself.
     *
     * @return whether the copy replaced the entry; if not, the copy is dead
     */
    public boolean relocate(int owner, long position, int type, long from, long to) {
        return type == EntryType.DELETE
                ? deletions.relocate(from, to, () -> relocateItem(owner, position, from, to))
                : relocateItem(owner, position, from, to);
    }

    private boolean relocateItem(int owner, long position, long from, long to) {
        index.lock(owner);
        try {
            return index.relocate(position, from, to);
        } finally {
            index.unlock();
        }
    }

    /** The accounting of superseded entries. */
    public SupersededEntries superseded() {
        return superseded;
    }

    private int applyClear(ByteBuffer entry, int at, long version) {
        // A log closes its segment once all of it is applied, so the stamp is not smaller. What a start finds may be
        // old.
        final long since = recovering ? 0 : segments.lastSequence();
        clears.clear(EntryDescriptor.cacheId(entry, at), version, EntryDescriptor.valueLength(entry, at) > 0, since);
        return 0;
    }

    /**
     * Forgets deletions that are on all replicas; returns how many. Called when everything up to CommitVer has taken
     * effect here. None while catching up: a copy read before the deletion took effect may still arrive.
     */
    public int forgetDeletions(int owner) {
        if (joining) {
            return 0;
        }
        versions.settle();
        if (deletions.size() == 0) {
            return 0;
        }
        return deletions.forget(commitVersion(), (position, address, version) -> {
            index.lock(owner);
            try {
                // If the deletion was superseded and cleaned meanwhile, its address may hold another entry. While the
                // index points there and is locked, the entry there stays.
                if (index.refers(position, address) && superseded.versionAt(address) == version) {
                    index.remove(position, address);
                }
            } finally {
                index.unlock();
            }
        });
    }

    /** The log was read and holds no doubtful entry: all of it is committed. Deletions that it lacks are unknown. */
    public void recovered(int owner) {
        final long applied = versions.found();
        raiseCommitVersion(applied);
        forgetDeletions(owner);
        deletions.forgetUnseen(applied);
        recovering = false;
        checkpoint = null;
    }

    // --- checkpoints ---

    /**
     * Empties the index and reserves capacity for the items of an image. No other thread uses the replica meanwhile.
     */
    public void beginLoad(long items) {
        index.beginLoad(items);
        counts.clear();
    }

    /**
     * Restores a checkpoint's state, after the index was loaded and before the rest of the log is read.
     *
     * @param version CommitVer at the checkpoint
     */
    public void restore(
            CheckpointBound bound, long version, List<Clears.Clear> restoredClears, List<SessionImage> openSessions) {
        checkpoint = bound;
        raiseCommitVersion(version);
        versions.raiseFound(version);
        for (Clears.Clear clear : restoredClears) {
            clears.clear(clear.cacheId(), clear.version(), false, 0);
        }
        sessions.restore(openSessions);
    }

    /** Whether a checkpoint says that a keyed entry missing from the index is dead. */
    public boolean isOver(long version) {
        final CheckpointBound bound = checkpoint;
        return bound != null && bound.isOver(version);
    }

    /** Whether an entry holds an object visible to readers; its lifetime is not checked. */
    public boolean isVisible(int type, int cacheId, long version) {
        return EntryType.holdsObject(type) && version > clears.clearedUpTo(cacheId) && version != Version.NONE;
    }
}
