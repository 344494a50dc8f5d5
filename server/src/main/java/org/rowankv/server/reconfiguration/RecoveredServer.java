package org.rowankv.server.reconfiguration;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.server.cleaning.CleanAgent;
import org.rowankv.server.digest.EntryAssembler;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.CommitVector;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.pm.SegmentOwner;
import org.rowankv.server.pm.SegmentState;
import org.rowankv.server.pm.StoreOpenException;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/**
 * One server at its start: reads every segment of its area, lets each valid entry take effect on the shards' replicas,
 * and remembers what may not be on all replicas, the candidates of the collect. Used by one thread, before any agent
 * runs.
 */
public final class RecoveredServer implements SegmentScan.Visitor, EntryAssembler.Handler {
    private static final int LOCK_OWNER = 1 << 21;
    /** A horizon behind which there is nothing. */
    private static final int OLDEST = 1;

    private final int serverId;
    private final Segments segments;
    private final Replicas replicas;
    private final ErrorLog errors;
    private final EntryAssembler assembler;
    private final AppendLog log;
    private final Candidates candidates;
    private final boolean replicated;
    private byte[] keyScratch = new byte[256];
    private int segment;
    private int charged;
    private long entries;

    /** @param replicated whether other servers hold replicas too: else there is nobody to collect from */
    public RecoveredServer(int serverId, Segments segments, Replicas replicas, boolean replicated, ErrorLog errors) {
        this.serverId = serverId;
        this.segments = segments;
        this.replicas = replicas;
        this.errors = errors;
        this.replicated = replicated;
        this.candidates = new Candidates(segments, replicas);
        this.assembler = new EntryAssembler(segments, 0);
        this.log = new AppendLog(segments, SegmentOwner.CLEAN);
    }

    public int serverId() {
        return serverId;
    }

    public Segments segments() {
        return segments;
    }

    public Replicas replicas() {
        return replicas;
    }

    /** Valid entries found. */
    public long entries() {
        return entries;
    }

    /** Reads the whole area. */
    public void scan() {
        forEachReplica(replica -> replica.beginScan());
        final List<Integer> inUse = new ArrayList<>();
        for (int s = 0; s < segments.count(); s++) {
            if (segments.state(s) != SegmentState.FREE) {
                inUse.add(s);
            }
        }
        // The newest first: what they say of CommitVer makes most of the older ones no candidates.
        inUse.sort(Comparator.comparingInt(segments::sequence).reversed());
        final SegmentScan scan = new SegmentScan(segments.region());
        for (int s : inUse) {
            segment = s;
            charged = 0;
            scan.scan(segments.area().addressOf(s), segments.length(), segments.generation(s), this);
            segments.close(s, charged);
        }
        freeDeadSegments(inUse);
        while (!assembler.isIdle()) {
            if (assembler.assemble(this) == 0 && !assembler.isIdle()) {
                makeRoom("put large entries together");
            }
        }
        assembler.giveUpIncomplete(this);
        assembler.log().retire();
        forEachReplica(replica -> replica.endScan());
    }

    /**
     * Segments that were posted and never written to, and such as hold nothing but dead entries, give room for what comes
     * next. Not those with candidates: another replica may still take a dead one over, for its completion.
     */
    private void freeDeadSegments(List<Integer> inUse) {
        for (int s : inUse) {
            final int live = segments.liveBytes(s, 0);
            if (live == 0 && segments.tombstoneBytes(s) == 0 && !isReferredTo(s)) {
                final SegmentState state = segments.state(s);
                if (state != SegmentState.COMMITTED) {
                    segments.transition(s, state, SegmentState.COMMITTED);
                }
                segments.free(s);
            }
        }
    }

    /** Cleans a segment that nothing at this start refers to by address, or fails. */
    private void makeRoom(String purpose) {
        for (int s = 0; s < segments.count(); s++) {
            final SegmentState state = segments.state(s);
            if (segments.isClosed(s) && (state == SegmentState.USING || state == SegmentState.USED)) {
                segments.transition(s, state, SegmentState.COMMITTED);
            }
        }
        // Sweeps have not run, so no tombstone is dropped.
        final CleanAgent cleaner = new CleanAgent(
                segments,
                replicas,
                this::isReferredTo,
                sequence -> {},
                () -> false,
                () -> true,
                errors,
                0,
                segments.count());
        final boolean cleaned = cleaner.cleanOne();
        cleaner.onClose();
        if (!cleaned) {
            throw new StoreOpenException("server " + serverId + ": no free segment is left to " + purpose
                    + "; a copy of the directory opens with a larger capacity once this version can change it");
        }
    }

    private boolean isReferredTo(int candidate) {
        return assembler.holdsBlockOf(candidate) || candidates.isReferredTo(candidate);
    }

    private void forEachReplica(java.util.function.Consumer<ShardReplica> action) {
        for (int shard = 0; shard < replicas.shardCount(); shard++) {
            if (replicas.has(shard)) {
                action.accept(replicas.get(shard));
            }
        }
    }

    @Override
    public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
        entries++;
        charged += segments.charge(length);
        switch (type) {
            case EntryType.COMMIT_VECTOR -> {
                for (int i = 0; i < CommitVector.count(buffer, at); i++) {
                    final int shard = CommitVector.shard(buffer, at, i);
                    if (replicas.has(shard)) {
                        replicas.get(shard).raiseCommitVersion(CommitVector.version(buffer, at, i));
                    }
                }
                segments.markDead(address, length);
            }
            case EntryType.BLOCK -> {
                if (isVoid(buffer, at)) {
                    segments.markDead(address, length);
                } else {
                    assembler.block(address, length, this);
                }
            }
            default -> {
                if (isVoid(buffer, at)) {
                    segments.markDead(address, length);
                } else {
                    entry(buffer, at, address, type, length);
                }
            }
        }
    }

    @Override
    public void onInvalid(long address, String reason) {
        errors.report(
                "server " + serverId + ": scan of segment " + segment + " at "
                        + (address - segments.area().addressOf(segment)),
                new IllegalStateException(reason));
    }

    private boolean isVoid(ByteBuffer buffer, int at) {
        final int shard = EntryDescriptor.shard(buffer, at);
        return !replicas.has(shard)
                || FrameDescriptor.tag(buffer, at) < replicas.get(shard).tenure();
    }

    private void entry(ByteBuffer buffer, int at, long address, int type, int length) {
        if (EntryType.isTombstone(type)) {
            segments.tombstone(segments.segmentOf(address), length, 0);
        }
        final ShardReplica replica = apply(buffer, at, address, type, length);
        final long version = EntryDescriptor.version(buffer, at);
        if (replicated && version > replica.commitVersion() && type != EntryType.COMPLETION) {
            candidates.add(replica.shardId(), version, address);
        }
    }

    private ShardReplica apply(ByteBuffer buffer, int at, long address, int type, int length) {
        final ShardReplica replica = replicas.get(EntryDescriptor.shard(buffer, at));
        final int keyLength = EntryDescriptor.keyLength(buffer, at);
        if (keyLength > keyScratch.length) {
            keyScratch = new byte[Math.max(keyLength, 2 * keyScratch.length)];
        }
        final long position = EntryType.isKeyed(type) ? replica.positionOf(buffer, at, keyScratch) : 0;
        replica.apply(LOCK_OWNER, position, address, type, length);
        if (type == EntryType.COMPLETION) {
            replica.deadUnlessKept(buffer, at, address, length);
        }
        return replica;
    }

    /**
     * The blocks of an entry stay in the log for a while after it was put together; then the index knows it or has passed
     * it. What it has passed is of no use to any replica: the newer entry ends it there too.
     */
    @Override
    public boolean isWanted(ByteBuffer entry, int at, int type) {
        return !isPassed(entry, at, type);
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
        if (EntryDescriptor.keyLength(entry, at) > keyScratch.length) {
            keyScratch = new byte[EntryDescriptor.keyLength(entry, at)];
        }
        final long found = replica.index().findKeyOf(replica.positionOf(entry, at, keyScratch), entry, at);
        return found != 0
                && EntryDescriptor.version(
                                segments.region().buffer(found),
                                segments.region().offset(found))
                        >= EntryDescriptor.version(entry, at);
    }

    @Override
    public void onAssembled(long address, int type, int length) {
        entry(segments.region().buffer(address), segments.region().offset(address), address, type, length);
    }

    @Override
    public void onBlockDone(long address, int length, boolean repeated) {
        segments.markDead(address, length);
    }

    /** Addresses of the candidates of a shard above what is known to be on all replicas, by version. */
    Map<Long, Long> candidates(int shard, long commitVersion) {
        return candidates.above(shard, commitVersion);
    }

    /** Takes over an entry that another replica has and this one has not. */
    void takeOver(RecoveredServer from, long sourceAddress, int tenure) {
        final ByteBuffer source = from.segments.region().buffer(sourceAddress);
        final int sourceAt = from.segments.region().offset(sourceAddress);
        final long word = FrameDescriptor.wordPlain(source, sourceAt);
        final int type = FrameDescriptor.type(word);
        if (isPassed(source, sourceAt, type)) {
            return;
        }
        // As old as can be: the copy may be older than tombstones found here.
        while (!log.ensureRoom(FrameDescriptor.length(word), OLDEST)) {
            makeRoom("take over entries of other replicas");
        }
        final long address = log.appendCopy(source, sourceAt, FrameDescriptor.length(word), type, tenure, 0);
        apply(
                segments.region().buffer(address),
                segments.region().offset(address),
                address,
                type,
                FrameDescriptor.length(word));
    }

    /** All replicas own the same entries: everything found is committed. */
    void finish() {
        log.drain();
        log.retire();
        for (int s = 0; s < segments.count(); s++) {
            final SegmentState state = segments.state(s);
            if (state == SegmentState.USING || state == SegmentState.USED) {
                segments.transition(s, state, SegmentState.COMMITTED);
            }
        }
        forEachReplica(replica -> replica.recovered(LOCK_OWNER));
        segments.recountSpace();
        candidates.clear();
    }
}
