package org.rowankv.server.digest;

import java.nio.ByteBuffer;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.rowan.LandingCursor;
import org.rowankv.rdma.rowan.LandingHandler;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.CommitVector;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/**
 * Applies what landed in the backup log to the shards' replicas, in order (§4.4 of the paper), learns CommitVer from it,
 * and turns used segments into committed ones. Has every shard of its server to itself. Takes no part in replication: an
 * entry is acknowledged long before it is digested.
 */
public final class DigestAgent implements Agent, LandingHandler, EntryAssembler.Handler {
    /** The identity under which it takes index locks; workers have small numbers. */
    private static final int LOCK_OWNER = 1 << 20;

    private static final int BATCH = 4096;

    private final ReceiveQueue queue;
    private final LandingCursor cursor;
    private final Segments segments;
    private final Replicas replicas;
    private final EntryCheck check;
    private final EntryAssembler assembler;
    private final LandedTracker tracker;
    private final Clock clock;
    private final long holeTimeoutNs;
    private final boolean flushes;
    private byte[] keyScratch = new byte[256];
    private long spaceFreed;
    private boolean mayForget;
    private volatile boolean idle = true;
    private final OwnedCounter digestedBytes = new OwnedCounter();
    private final OwnedCounter holesFenced = new OwnedCounter();

    public DigestAgent(
            ReceiveQueue queue,
            LandingCursor cursor,
            Segments segments,
            Replicas replicas,
            Clock clock,
            long holeTimeoutNs) {
        this.queue = queue;
        this.cursor = cursor;
        this.segments = segments;
        this.replicas = replicas;
        this.check = new EntryCheck(segments.region());
        this.assembler = new EntryAssembler(segments, segments.cleanerReserve());
        this.tracker = new LandedTracker(segments, replicas);
        this.clock = clock;
        this.holeTimeoutNs = holeTimeoutNs;
        this.flushes = segments.area().durability() == Durability.POWER;
    }

    @Override
    public String roleName() {
        return "digest";
    }

    @Override
    public int doWork() {
        final int read = cursor.poll(this, BATCH);
        final int assembled = assembler.assemble(this);
        if (mayForget && assembler.isIdle()) {
            forgetDeletions();
        }
        if (spaceFreed != 0) {
            segments.space().giveBack(spaceFreed);
            spaceFreed = 0;
        }
        final int committed = tracker.usedCount() > 0 ? tracker.commit() : 0;
        if (committed > 0) {
            Chaos.point("digest.committed");
        }
        if (read == 0 && cursor.isAtHole()) {
            cutOffOldHole();
        }
        idle = read == 0 && assembler.isIdle() && !cursor.isAtHole();
        return read + assembled + committed;
    }

    /**
     * An entry that was put together of blocks takes effect behind what landed after it: a deletion of its key may be among
     * that, and must be remembered until then.
     */
    private void forgetDeletions() {
        mayForget = false;
        for (ShardReplica replica : replicas.all()) {
            replica.forgetDeletions(LOCK_OWNER);
        }
    }

    /**
     * A sender that does not finish what it reserved holds up everybody's entries behind it: it is cut off. Where one bit of a published
     * word has flipped there is no such sender.
     */
    private void cutOffOldHole() {
        if (cursor.holeAgeNs(clock.nanoTime()) <= holeTimeoutNs) {
            return;
        }
        final int segment = queue.segmentAt(cursor.ordinal());
        final long base = segments.area().addressOf(segment);
        final long address = base + cursor.offset();
        if (check.typeBeforeAFlip(address, base + segments.length(), segments.generation(segment)) != 0) {
            throw damaged(segment, address, "a bit of the publication word has flipped");
        }
        queue.fenceHole(segment, cursor.offset());
        holesFenced.add(1);
    }

    @Override
    public void onFrame(int segment, long address, int type, int length) {
        Chaos.point("digest.before-frame");
        if (flushes) {
            // Its sender will, if it has not yet. But what is done because of this entry, the end of an older one and
            // of its
            // segment, must not get to the device before it.
            segments.area().verbs().flush(address, length);
        }
        final String reason = check.whyInvalid(
                address, segments.area().addressOf(segment) + segments.length(), segments.generation(segment));
        if (reason != null) {
            throw damaged(segment, address, reason);
        }
        digestedBytes.add(length);
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        switch (type) {
            case EntryType.COMMIT_VECTOR -> commitVector(segment, address, length, buffer, at);
            case EntryType.BLOCK -> block(segment, address, length, buffer, at);
            default -> entry(segment, address, type, length, buffer, at);
        }
    }

    /**
     * What landed is not what was sent. Its sender counts it as replicated, and acknowledges it; to pass it over would leave this
     * replica without it, and nothing would find that later, since no index refers to it. So the server stops before anything
     * behind it takes effect, and before it does, its area says that it is incomplete: the process may end at any time.
     */
    private DamagedLandingError damaged(int segment, long address, String reason) {
        final DamagedLandingError error = new DamagedLandingError("what landed in segment " + segment + " of server "
                + segments.area().serverId() + " at "
                + (address - segments.area().addressOf(segment)) + " was damaged before it took effect: "
                + reason);
        try {
            segments.area().superblock().markIncomplete();
        } catch (RuntimeException e) {
            error.addSuppressed(
                    e); // not on the device, but in the system's pages: any start but after a power cut reads it
        }
        return error;
    }

    private void commitVector(int segment, long address, int length, ByteBuffer buffer, int at) {
        final int pairs = CommitVector.count(buffer, at);
        for (int i = 0; i < pairs; i++) {
            final int shard = CommitVector.shard(buffer, at, i);
            if (replicas.has(shard)) {
                replicas.get(shard).raiseCommitVersion(CommitVector.version(buffer, at, i));
                if (!replicas.get(shard).isJoining()) {
                    assembler.committed(shard, CommitVector.version(buffer, at, i));
                }
            }
        }
        mayForget = true;
        tracker.record(segment, length);
        segments.markRead(address, length);
    }

    private void block(int segment, long address, int length, ByteBuffer buffer, int at) {
        final int shard = EntryDescriptor.shard(buffer, at);
        final long version = EntryDescriptor.version(buffer, at);
        tracker.entry(segment, length, shard, version);
        tracker.block(segment);
        final boolean withoutSpace = (EntryDescriptor.flags(buffer, at) & EntryDescriptor.WITHOUT_SPACE) != 0;
        final boolean isVoid = isVoid(shard, buffer, at);
        if (isVoid || isRepeated(replicas.get(shard), version)) {
            onBlockDone(address, length, !isVoid || withoutSpace);
            return;
        }
        final int before = assembler.repeatedCount();
        assembler.block(address, length, this);
        if (withoutSpace && assembler.repeatedCount() == before) {
            spaceFreed -= segments.charge(length);
        }
    }

    private void entry(int segment, long address, int type, int length, ByteBuffer buffer, int at) {
        final int shard = EntryDescriptor.shard(buffer, at);
        final long version = EntryDescriptor.version(buffer, at);
        tracker.entry(segment, length, shard, version);
        if (isVoid(shard, buffer, at)) {
            segments.markDead(address, length);
            if ((EntryDescriptor.flags(buffer, at) & EntryDescriptor.WITHOUT_SPACE) == 0) {
                spaceFreed += segments.charge(length);
            }
            return;
        }
        if (isRepeated(replicas.get(shard), version)) {
            segments.markDead(address, length);
            return;
        }
        if (EntryType.isTombstone(type)) {
            segments.tombstone(segment, length, 0);
        }
        apply(address, type, length, buffer, at);
    }

    /**
     * Behind a record of CommitVer that covers it, an entry is a repetition: its first copy had landed before that record
     * was sent. Not on a joining replica, to which old entries are copied.
     */
    private static boolean isRepeated(ShardReplica replica, long version) {
        return version <= replica.commitVersion() && !replica.isJoining();
    }

    /** Whether the entry is of a shard, or of a stay of it, that is not this server's. */
    private boolean isVoid(int shard, ByteBuffer buffer, int at) {
        return !replicas.has(shard)
                || FrameDescriptor.tag(buffer, at) < replicas.get(shard).tenure();
    }

    private void apply(long address, int type, int length, ByteBuffer buffer, int at) {
        final ShardReplica replica = replicas.get(EntryDescriptor.shard(buffer, at));
        if ((EntryDescriptor.flags(buffer, at) & EntryDescriptor.WITHOUT_SPACE) != 0) {
            spaceFreed -= segments.charge(length);
        }
        final int keyLength = EntryDescriptor.keyLength(buffer, at);
        if (keyLength > keyScratch.length) {
            keyScratch = new byte[Math.max(keyLength, 2 * keyScratch.length)];
        }
        final long position = EntryType.isKeyed(type) ? replica.positionOf(buffer, at, keyScratch) : 0;
        spaceFreed += replica.apply(LOCK_OWNER, position, address, type, length);
        if (type == EntryType.COMPLETION) {
            spaceFreed += replica.superseded().deadUnlessKept(buffer, at, address, length);
        }
    }

    /** The place behind everything that has landed by now. For the agents of its server. */
    public LandingPosition landed() {
        final long ordinal = queue.currentOrdinal();
        return new LandingPosition(ordinal, queue.landedLimit(ordinal));
    }

    /** Whether everything before that place has taken effect. For the agents of its server. */
    public boolean isDigested(LandingPosition mark) {
        return (cursor.ordinal() > mark.ordinal()
                        || cursor.ordinal() == mark.ordinal() && cursor.offset() >= mark.offset())
                && assembler.isIdle();
    }

    @Override
    public void onSegmentClosed(long ordinal, int segment) {
        tracker.closed(segment);
    }

    @Override
    public boolean isWanted(ByteBuffer entry, int at, int type) {
        return true;
    }

    @Override
    public void onAssembled(long address, int type, int length) {
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int segment = segments.segmentOf(address);
        final String reason = check.whyInvalid(
                address, segments.area().addressOf(segment) + segments.length(), segments.generation(segment));
        if (reason != null) {
            throw damaged(segment, address, "put together of blocks, " + reason);
        }
        replicas.get(EntryDescriptor.shard(buffer, at)).assembled(EntryDescriptor.version(buffer, at));
        apply(address, type, length, buffer, at);
    }

    @Override
    public void onBlockDone(long address, int length, boolean repeated) {
        segments.markDead(address, length);
        if (!repeated) {
            // Its credit was drawn for the time it waits to be put together.
            spaceFreed += segments.charge(length);
        }
        tracker.blockDone(segments.segmentOf(address));
    }

    /** A replica holds all that was copied to it: repetitions of what CommitVer covers are told by their versions from now on. */
    public void joined(int shard) {
        assembler.committed(shard, replicas.get(shard).commitVersion());
    }

    /** Whether digested segments are not committed yet. For the agents of its server. */
    public boolean awaitsCommit() {
        return tracker.usedCount() > 0;
    }

    /** Whether all that has landed is digested, as of the last turn. */
    public boolean isIdle() {
        return idle;
    }

    public long digestedBytes() {
        return digestedBytes.get();
    }

    public long holesFenced() {
        return holesFenced.get();
    }

    @Override
    public void onClose() {
        assembler.log().retire();
    }
}
