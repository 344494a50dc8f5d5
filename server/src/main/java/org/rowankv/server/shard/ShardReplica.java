package org.rowankv.server.shard;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
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
import org.rowankv.topology.ShardMap;

/**
 * One shard's replica on one server, primary or backup: the index, the clears, the sessions, the versions. All entries of
 * the shard, whoever read or wrote them (worker, digest, scan, collect), take effect here by {@link #apply}, so that there
 * is one rule for what a newer entry does to an older one: the larger version wins.
 *
 * <p>Thread-safe by the index's lock and the parts' own rules. On a primary two entries of one key are never applied at
 * the same time, since the key's lock is held.
 */
public final class ShardReplica {
    /** Met while the log is read: dead, unless its answer, which is looked at after that, may be asked for. */
    private static final int LATE = Integer.MIN_VALUE;

    private static final VarHandle COMMIT_VERSION;
    private static final VarHandle SETTLED_VERSION;
    private static final VarHandle APPLIED_VERSION;

    static {
        try {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            COMMIT_VERSION = lookup.findVarHandle(ShardReplica.class, "commitVersion", long.class);
            SETTLED_VERSION = lookup.findVarHandle(ShardReplica.class, "settledVersion", long.class);
            APPLIED_VERSION = lookup.findVarHandle(ShardReplica.class, "appliedVersion", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

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
    private ShardChanges changes;
    private final int tenure;

    @SuppressWarnings("unused") // through COMMIT_VERSION
    private long commitVersion;

    /** The largest version of any entry met while the log was read. */
    @SuppressWarnings("unused") // through APPLIED_VERSION
    private long appliedVersion;

    /** Until the copy of what was written before this server came is complete. */
    private volatile boolean joining;

    /** Until requests are served. Afterwards the line of memory that these fields are in is hardly written. */
    private boolean recovering = true;

    /** While the log behind a checkpoint is read. */
    private @Nullable CheckpointBound checkpoint;

    /** Every entry with a version ≤ it has taken effect here. */
    private volatile long settledVersion;

    /** The largest version that was put together here from blocks: it may be in a closed segment before it is settled. */
    private volatile long assembledVersion;

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

    /** The table in which that session is, if it is open. */
    public SessionTable sessions(long sessionId) {
        return sessions.of(sessionId);
    }

    /**
     * The log is read: entries come in any order. Of copies of an entry, which a cut-off cleaner has left, the one in the segment
     * that was opened later is kept, whatever order they are met in: so what is left in the cleaner's victim gets no larger.
     */
    public void beginScan() {
        sessions.beginScan(this::isLaterCopy);
    }

    private boolean isLaterCopy(long address, long other) {
        return segments.sequence(segments.segmentOf(address)) > segments.sequence(segments.segmentOf(other));
    }

    /** All entries of the log were met. */
    public void endScan() {
        sessions.endScan();
    }

    /**
     * What was written before this server's tenure is still to be copied to it, and comes in any order among what is
     * written now. Before anything else is done with the replica.
     */
    public void beginJoining() {
        recovering = false;
        joining = true;
        sessions.beginScan();
    }

    /** Whether anything that was acknowledged may be missing here. */
    public boolean isJoining() {
        return joining;
    }

    /**
     * The copy is complete, and digested. By the agent that digests.
     *
     * @return bytes of space that are no longer needed because of it
     */
    public int joined(int owner) {
        final int freed = sessions.endScan();
        // Of the deletions before the tenure none was ever seen here.
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

    /** Before its server serves: what is told of this shard's changes goes on from an earlier start of the roles. */
    public void continueChanges(ShardChanges earlier) {
        changes = earlier;
    }

    /** What is told of this shard's changes, while this is its primary. */
    public ShardChanges changes() {
        return changes;
    }

    /** CommitVer: every entry with a version ≤ it is on all replicas. On a backup, what the primary last said. */
    public long commitVersion() {
        return (long) COMMIT_VERSION.getAcquire(this);
    }

    /** Only ever raises it. */
    public void raiseCommitVersion(long version) {
        raise(COMMIT_VERSION, version);
    }

    private long appliedVersion() {
        return (long) APPLIED_VERSION.getAcquire(this);
    }

    private void raise(VarHandle field, long version) {
        long old = (long) field.getAcquire(this);
        while (version > old && !field.compareAndSet(this, old, version)) {
            old = (long) field.getAcquire(this);
        }
    }

    /** {@link ShardIndex#findLikely} of the key of a request. */
    public long findLikely(long position, long refused, Request request) {
        return index.findLikely(
                position, refused, request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
    }

    /** {@link ShardIndex#refers} with the key of a request. */
    public boolean refers(long position, long address, Request request) {
        return index.refers(
                position, address, request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
    }

    /** The position in this shard of a hash. */
    public long positionOf(long hash) {
        return ShardMap.positionOf(hash, shardCount);
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
     * Lets an entry that lies at {@code address} take effect.
     *
     * @param position of its key; ignored for an entry that has none
     * @param owner who takes the index lock
     * @return bytes of space that are no longer needed because of it: older entries, or itself when it is not new
     */
    public int apply(int owner, long position, long address, int type, int length) {
        return apply(owner, position, 0, 0, address, type, length);
    }

    /**
     * As above, for the holder of the key's lock.
     *
     * @param known where it found the key's newest entry, or 0
     * @param knownGeneration of that segment then
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
            raise(APPLIED_VERSION, version);
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
                    && superseded.versionAt(existing) >= version) {
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
                freed = 0; // applied before, by a thread that an error struck, perhaps before it came to what follows
            } else {
                // Counted while the index still points there: afterwards the cleaner may free its segment at any time.
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
                    // Together with the index, also when memory for its growth ended behind the put.
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

    /** Whether the index still points to that use of an entry's place. The index is locked. */
    private boolean isStill(long position, long address, int generation) {
        return address != 0
                && segments.generation(segments.segmentOf(address)) == generation
                && index.refers(position, address);
    }

    /** The index points to the copy from now on. Its completion, if it is needed, follows; so the other place is dead. */
    private int preferCopy(long position, long from, long to, int length) {
        if (!index.relocate(position, from, to)) {
            throw new AssertionError("the index does not point to " + from);
        }
        return superseded.dead(from, length);
    }

    /** An entry that changes nothing: what is known of its key is as new or newer. */
    private int repeatedOrLate(ByteBuffer entry, int at, long address, int type, int length, boolean repeated) {
        if (recovering && !EntryType.isTombstone(type)) {
            return LATE;
        }
        final int freed = EntryType.isTombstone(type) ? 0 : superseded.dead(address, length);
        // For a repeated append no space was drawn, so none comes back, except of one that counts whenever it lands.
        final boolean drawn = (EntryDescriptor.flags(entry, at) & EntryDescriptor.WITHOUT_SPACE) == 0;
        return repeated && drawn ? 0 : freed;
    }

    /**
     * Lets the index point to a copy of an entry, if it still points to the entry itself.
     *
     * @return whether the copy took the entry's place; if not, the copy is dead
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

    /** The entries that are over: what they give back, and what is kept of them. */
    public SupersededEntries superseded() {
        return superseded;
    }

    private int applyClear(ByteBuffer entry, int at, long version) {
        clears.clear(EntryDescriptor.cacheId(entry, at), version, EntryDescriptor.valueLength(entry, at) > 0);
        return 0;
    }

    /**
     * Forgets deletions that are on all replicas; returns how many. Called when all that CommitVer covers has taken effect
     * here. None while what they end may still be copied to here: it was read before they took effect.
     */
    public int forgetDeletions(int owner) {
        if (joining) {
            return 0;
        }
        settle();
        if (deletions.size() == 0) {
            return 0;
        }
        return deletions.forget(commitVersion(), (position, address, version) -> {
            index.lock(owner);
            try {
                // Superseded and cleaned away meanwhile, its place may hold something new; while the index points there
                // and is locked, what lies there stays.
                if (index.refers(position, address) && superseded.versionAt(address) == version) {
                    index.remove(position, address);
                }
            } finally {
                index.unlock();
            }
        });
    }

    /** The log was read and nothing in it is in doubt: all of it is committed, and what it lacks is not known. */
    public void recovered(int owner) {
        raiseCommitVersion(appliedVersion());
        forgetDeletions(owner);
        deletions.forgetUnseen(appliedVersion());
        recovering = false;
        checkpoint = null;
    }

    // --- checkpoints ---

    private void settle() {
        raise(SETTLED_VERSION, commitVersion()); // digest and commit do so, perhaps at the same time
    }

    /** Every entry with a version ≤ it is on all replicas, and has taken effect here. Any thread. */
    public long settledVersion() {
        return settledVersion;
    }

    /** An entry was put together here from blocks, by the one thread that does that. */
    public void assembled(long version) {
        assembledVersion = Math.max(assembledVersion, version);
    }

    public long assembledVersion() {
        return assembledVersion;
    }

    /** Empties the index, and makes room for so many items of an image. Nobody else uses the replica meanwhile. */
    public void beginLoad(long items) {
        index.beginLoad(items);
        counts.clear();
    }

    /**
     * Takes over what a checkpoint says, after the index was loaded and before the rest of the log is read.
     *
     * @param version that CommitVer had reached
     */
    public void restore(
            CheckpointBound bound, long version, List<Clears.Clear> restoredClears, List<SessionImage> openSessions) {
        checkpoint = bound;
        raiseCommitVersion(version);
        raise(APPLIED_VERSION, version);
        for (Clears.Clear clear : restoredClears) {
            clears.clear(clear.cacheId(), clear.version(), clear.destroyed());
        }
        sessions.restore(openSessions);
    }

    /** Whether a checkpoint says that a keyed entry, which the index does not know, is over. */
    public boolean isOver(long version) {
        final CheckpointBound bound = checkpoint;
        return bound != null && bound.isOver(version);
    }

    /** Whether an entry holds an object that a reader may see, its lifetime aside. */
    public boolean isVisible(int type, int cacheId, long version) {
        return EntryType.holdsObject(type) && version > clears.clearedUpTo(cacheId) && version != Version.NONE;
    }
}
