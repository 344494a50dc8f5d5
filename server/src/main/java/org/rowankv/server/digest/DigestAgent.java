package org.rowankv.server.digest;

import java.nio.ByteBuffer;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.EndpointSettings;
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
 * Applies landed entries to the shards' replicas, lane by lane in order (§4.4 of the paper), reads CommitVer from them,
 * and turns used segments into committed ones. Covers every shard of its server alone. Not involved in replication: an
 * entry is acknowledged long before it is digested.
 */
public final class DigestAgent implements Agent, LandingHandler, EntryAssembler.Handler {
    /** The identity under which it takes index locks; workers have small numbers. */
    private static final int LOCK_OWNER = 1 << 20;

    private static final int BATCH = 4096;

    private final ReceiveQueue queue;
    private final DigestedLanes lanes;
    private final EpochBarrier barrier;
    private final Segments segments;
    private final Replicas replicas;
    private final EntryCheck check;
    private final EntryAssembler assembler;
    private final CopyReserve reserve;
    private final Clock clock;
    private final long holeTimeoutNs;
    private final boolean flushes;
    /** By shard: entries of earlier epochs that land under this one or a later one are scattered. */
    private final int[] scatteredFrom;

    private final DrawnCredit drawn;
    /** The lane being read, its cursor and its tracker. */
    private int lane;

    private LandingCursor cursor;
    private LandedTracker tracker;

    private byte[] keyScratch = new byte[256];
    private long spaceFreed;
    private boolean mayForget;
    private volatile boolean idle = true;
    private final OwnedCounter digestedBytes = new OwnedCounter();
    private final OwnedCounter holesFenced = new OwnedCounter();

    public DigestAgent(
            ReceiveQueue queue,
            EndpointSettings settings,
            Segments segments,
            Replicas replicas,
            Clock clock,
            long holeTimeoutNs) {
        this.queue = queue;
        this.segments = segments;
        this.replicas = replicas;
        this.check = new EntryCheck(segments.region());
        this.assembler = new EntryAssembler(segments, segments.cleanerReserve());
        this.lanes = new DigestedLanes(queue, settings, segments, replicas);
        this.barrier = new EpochBarrier(lanes, replicas.shardCount());
        this.cursor = lanes.get(0).cursor();
        this.tracker = lanes.get(0).tracker();
        this.scatteredFrom = new int[replicas.shardCount()];
        this.drawn = new DrawnCredit(replicas.shardCount());
        this.reserve = new CopyReserve(segments.space(), replicas.shardCount());
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
        final int read = readLanes();
        if (barrier.holds()) {
            releaseHeld();
        }
        final int assembled = assembler.assemble(this);
        if (mayForget && assembler.isIdle()) {
            forgetDeletions();
        }
        if (spaceFreed != 0) {
            segments.space().release(spaceFreed);
            spaceFreed = 0;
        }
        final int committed = lanes.commit();
        if (committed > 0) {
            Chaos.point("digest.committed");
        }
        idle = read == 0 && assembler.isIdle() && !lanes.isAtHole() && !barrier.holds();
        return read + assembled + committed;
    }

    private int readLanes() {
        lanes.grow();
        int read = 0;
        for (int i = 0; i < lanes.count(); i++) {
            enter(i);
            final int here = cursor.poll(this, BATCH);
            if (here == 0 && cursor.isAtHole()) {
                cutOffOldHole();
            }
            read += here;
        }
        return read;
    }

    private void enter(int number) {
        lane = number;
        cursor = lanes.get(number).cursor();
        tracker = lanes.get(number).tracker();
    }

    /**
     * An assembled entry takes effect after entries that landed later. These may include a deletion of its key, which
     * must be remembered until then.
     */
    private void forgetDeletions() {
        mayForget = false;
        for (ShardReplica replica : replicas.all()) {
            replica.forgetDeletions(LOCK_OWNER);
        }
    }

    /**
     * A sender that does not finish its reservation blocks all later entries: it is fenced. If a bit of a published
     * word has flipped, there is no such sender.
     */
    private void cutOffOldHole() {
        if (cursor.holeAgeNs(clock.nanoTime()) <= holeTimeoutNs) {
            return;
        }
        final int segment = lanes.get(lane).lane().segmentAt(cursor.ordinal());
        requireNoFlippedWord(segment);
        queue.fenceHole(segment, cursor.offset());
        holesFenced.add(1);
    }

    /** The cursor takes a word of another generation for a hole, or in a closed segment for its end. */
    private void requireNoFlippedWord(int segment) {
        final long base = segments.area().addressOf(segment);
        final long address = base + cursor.offset();
        if (check.typeBeforeAFlip(address, base + segments.length(), segments.generation(segment)) != 0) {
            throw damaged(segment, address, "a bit of the publication word has flipped");
        }
    }

    @Override
    public void onFrame(int segment, long address, int type, int length) {
        Chaos.point("digest.before-frame");
        if (flushes) {
            // Its sender will flush it, if it has not yet. But the effects of this entry, such as the end of an older
            // one and of its segment, must not reach the device before it.
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
     * The landed bytes are not what was sent. The sender counts the entry as replicated, and acknowledges it. Skipping
     * it would leave this replica without it undetected, since no index refers to it. So the server stops before
     * anything later takes effect.
     */
    private DamagedLandingError damaged(int segment, long address, String reason) {
        return DamagedLandingError.of(segments, segment, address, reason);
    }

    private void commitVector(int segment, long address, int length, ByteBuffer buffer, int at) {
        final int pairs = CommitVector.count(buffer, at);
        for (int i = 0; i < pairs; i++) {
            final ShardReplica replica = replicas.find(CommitVector.shard(buffer, at, i));
            final long version = CommitVector.version(buffer, at, i);
            if (replica != null && barrier.passes(lane, replica.shardId(), version)) {
                committed(replica, version);
            }
        }
        mayForget = true;
        tracker.record(segment, length);
        segments.markRead(address, length);
    }

    /** CommitVer of a shard is at least that version. */
    private void committed(ShardReplica replica, long version) {
        replica.raiseCommitVersion(version);
        if (!replica.isJoining()) {
            assembler.committed(replica.shardId(), version);
        }
        replica.tail().trim(replica.commitVersion());
    }

    private void releaseHeld() {
        for (int shard = 0; shard < replicas.shardCount(); shard++) {
            final long version = barrier.release(shard);
            final ShardReplica replica = replicas.find(shard);
            if (version != 0 && replica != null) {
                committed(replica, version);
                mayForget = true;
            }
        }
    }

    private void block(int segment, long address, int length, ByteBuffer buffer, int at) {
        final int shard = EntryDescriptor.shard(buffer, at);
        final long version = EntryDescriptor.version(buffer, at);
        tracker.entry(segment, length, shard, version);
        tracker.block(segment);
        final boolean isVoid = isVoid(shard, buffer, at);
        final boolean withoutSpace = takesSpaceHere(shard, buffer, at, version);
        if (isVoid || isRepeated(replicas.get(shard), version)) {
            onBlockDone(address, length, !isVoid || withoutSpace);
            if (isVoid && !withoutSpace) {
                drawn.add(shard, segments.charge(length));
            }
            return;
        }
        final int before = assembler.repeatedCount();
        assembler.block(address, length, this);
        if (assembler.repeatedCount() == before) {
            if (withoutSpace || !drawsCredit(shard, version)) {
                takeSpace(replicas.get(shard), withoutSpace, version, length);
            } else {
                drawn.add(shard, segments.charge(length));
            }
        }
    }

    private void entry(int segment, long address, int type, int length, ByteBuffer buffer, int at) {
        final int shard = EntryDescriptor.shard(buffer, at);
        final long version = EntryDescriptor.version(buffer, at);
        tracker.entry(segment, length, shard, version);
        if (isVoid(shard, buffer, at)) {
            segments.markDead(address, length);
            if (!takesSpaceHere(shard, buffer, at, version)) {
                spaceFreed += segments.charge(length);
                drawn.add(shard, segments.charge(length));
            }
            return;
        }
        final ShardReplica replica = replicas.get(shard);
        if (isRepeated(replica, version)
                || isScattered(shard, buffer, at, version) && replica.tail().contains(version)) {
            segments.markDead(address, length);
            return;
        }
        if (type != EntryType.COMPLETION && version > replica.commitVersion()) {
            if (drawsCredit(shard, version)
                    && !takesSpaceHere(shard, buffer, at, version)
                    && !replica.tail().contains(version)) {
                drawn.add(shard, segments.charge(length));
            }
            replica.tail().landed(version, address);
        }
        if (EntryType.isTombstone(type)) {
            segments.tombstone(segment, length, 0);
        }
        apply(address, type, length, buffer, at);
    }

    /**
     * An entry at or below a received CommitVer is a repetition: its first copy had landed before that record was sent.
     * Not while catching up, when old entries are copied here.
     */
    private static boolean isRepeated(ShardReplica replica, long version) {
        return version <= replica.commitVersion() && !replica.isJoining();
    }

    /** Whether the entry belongs to a shard or tenure that is not this server's. */
    private boolean isVoid(int shard, ByteBuffer buffer, int at) {
        return !replicas.has(shard)
                || FrameDescriptor.tag(buffer, at) < replicas.get(shard).tenure();
    }

    /**
     * Whether no space was acquired for the entry before it was sent, so that it is taken now: unconditionally, since
     * the space was acquired when the entry was first written.
     */
    private boolean takesSpaceHere(int shard, ByteBuffer buffer, int at, long version) {
        return (EntryDescriptor.flags(buffer, at) & EntryDescriptor.WITHOUT_SPACE) != 0
                || isScattered(shard, buffer, at, version);
    }

    /** Whether a new primary sends what its predecessor had written: for a copy, or to complete the replicas. */
    private boolean isScattered(int shard, ByteBuffer buffer, int at, long version) {
        return Version.epoch(version) < scatteredFrom[shard] && FrameDescriptor.tag(buffer, at) >= scatteredFrom[shard];
    }

    /** Whether its sender had to acquire credit for the entry: not for one that is older than a joining replica. */
    private boolean drawsCredit(int shard, long version) {
        return !replicas.get(shard).isCopied(version);
    }

    /** Takes the space of an entry whose sender has acquired none. That of a copied one was reserved. */
    private void takeSpace(ShardReplica replica, boolean withoutSpace, long version, int length) {
        final boolean copied = replica.isCopied(version);
        if (withoutSpace || copied) {
            final int charge = segments.charge(length);
            spaceFreed -= charge - (copied ? reserve.use(replica.shardId(), charge) : 0);
        }
    }

    /** Whether the index holds the same entry at another address. */
    private boolean isPresent(ShardReplica replica, long position, long address, ByteBuffer buffer, int at) {
        final long found = replica.index().findKeyOf(position, buffer, at);
        return found != 0
                && found != address
                && EntryDescriptor.version(
                                segments.region().buffer(found),
                                segments.region().offset(found))
                        == EntryDescriptor.version(buffer, at);
    }

    private void apply(long address, int type, int length, ByteBuffer buffer, int at) {
        final int shard = EntryDescriptor.shard(buffer, at);
        final ShardReplica replica = replicas.get(shard);
        final long version = EntryDescriptor.version(buffer, at);
        final int keyLength = EntryDescriptor.keyLength(buffer, at);
        if (keyLength > keyScratch.length) {
            keyScratch = new byte[Math.max(keyLength, 2 * keyScratch.length)];
        }
        final long position = EntryType.isKeyed(type) ? replica.positionOf(buffer, at, keyScratch) : 0;
        if (replica.isJoining()
                && EntryType.isKeyed(type)
                && isScattered(shard, buffer, at, version)
                && isPresent(replica, position, address, buffer, at)) {
            segments.markDead(address, length); // a copy of what was sent before it
            return;
        }
        takeSpace(replica, takesSpaceHere(shard, buffer, at, version), version, length);
        spaceFreed += replica.apply(LOCK_OWNER, position, address, type, length);
        if (type == EntryType.COMPLETION) {
            spaceFreed += replica.superseded().deadUnlessKept(buffer, at, address, length);
        }
    }

    /** The position after everything landed so far. For the agents of its server. */
    public LandingPosition landed() {
        return lanes.landed();
    }

    /** Whether everything before that position has taken effect. For the agents of its server. */
    public boolean isDigested(LandingPosition mark) {
        return lanes.isBehind(mark) && assembler.isIdle();
    }

    /** Whether every entry of that shard before that position has taken effect. For the agents of its server. */
    public boolean isDigested(LandingPosition mark, int shard) {
        return lanes.isBehind(mark) && assembler.isIdle(shard);
    }

    /**
     * That epoch of a shard begins with another primary, and nothing that an earlier one sent lands any more. Entries of
     * which only some blocks have landed are dropped; entries of earlier epochs that land from now on are scattered. For
     * the agents of its server, once what had landed before is digested.
     */
    public void beginEpoch(int shard, int epoch) {
        assembler.giveUpIncomplete(shard, epoch, this);
        drawn.beginEpoch(shard);
        scatteredFrom[shard] = Math.max(scatteredFrom[shard], epoch);
    }

    /** This server is the primary of that epoch now: no block of an earlier one lands here. For its agents. */
    public void openedHere(int shard, int epoch) {
        assembler.committed(shard, Version.of(epoch, 0));
    }

    DrawnCredit drawn() {
        return drawn;
    }

    @Override
    public void onSegmentClosed(long ordinal, int segment) {
        requireNoFlippedWord(segment);
        tracker.closed(segment);
    }

    @Override
    public boolean accepts(ByteBuffer entry, int at, int type) {
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
            throw damaged(segment, address, "assembled from blocks, " + reason);
        }
        final int shard = EntryDescriptor.shard(buffer, at);
        final long version = EntryDescriptor.version(buffer, at);
        if (!takesSpaceHere(shard, buffer, at, version) && drawsCredit(shard, version)) {
            drawn.add(shard, segments.charge(length));
        }
        takeEffect(address, type, length);
    }

    /**
     * An entry of this server's replica that lies in a log of copies takes effect: assembled from blocks, or used
     * again while its shard is copied here. For the agents of its server.
     */
    public void takeEffect(long address, int type, int length) {
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final long version = EntryDescriptor.version(buffer, at);
        final ShardReplica replica = replicas.get(EntryDescriptor.shard(buffer, at));
        replica.versions().raiseAssembled(version);
        if (type != EntryType.COMPLETION && version > replica.commitVersion()) {
            replica.tail().copied(version, address);
        }
        apply(address, type, length, buffer, at);
    }

    @Override
    public void onBlockDone(long address, int length, boolean repeated) {
        segments.markDead(address, length);
        if (!repeated) {
            // Its credit covered the time until it is assembled.
            spaceFreed += segments.charge(length);
        }
        lanes.blockDone(segments.segmentOf(address));
    }

    /** The space reserved for copies to joining replicas. Thread-safe. */
    public CopyReserve reserve() {
        return reserve;
    }

    /** A tenure of a shard begins or ends: what has landed of an earlier one is void. For the agents of its server. */
    public void tenureChanges(int shard) {
        assembler.giveUp(shard, this);
        barrier.forget(shard);
        reserve.begin(shard);
    }

    /** The copy to a replica is complete: from now on CommitVer identifies repetitions by their versions. */
    public void joined(int shard) {
        reserve.end(shard);
        assembler.committed(shard, replicas.get(shard).commitVersion());
    }

    /** Whether digested segments are not committed yet. For the agents of its server. */
    public boolean awaitsCommit() {
        return lanes.awaitCommit() || segments.holds().areAny();
    }

    /** Whether all that has landed is digested, as of the last cycle. */
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
