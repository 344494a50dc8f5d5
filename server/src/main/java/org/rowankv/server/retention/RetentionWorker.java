package org.rowankv.server.retention;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.request.Worker;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;

/**
 * The worker context of the agents that end objects and sessions. One for all of them, since they share a thread; and
 * separate from the pool, since callers that wait for room may hold all pooled ones. It withdraws a request instead of
 * waiting, where possible.
 *
 * <p>For the agents' thread, one user at a time, except where noted. As an agent it releases what its users acquired
 * ahead: a request to a backup may be granted after its user has finished.
 */
public final class RetentionWorker implements Agent {
    /** The result of a step. */
    enum Outcome {
        /** Acknowledgements of backups are outstanding. */
        PENDING,
        /** The request is complete. */
        ANSWERED,
        /** Another mutation holds the key's lock; nothing was done. */
        LOCKED,
        /** The log has no room even for the end of an object; nothing was done. */
        WITHOUT_ROOM,
        /** The in-flight window is full; nothing was done. */
        AHEAD,
        /** The previous step failed; what was begun is completed or dropped. */
        INTERRUPTED
    }

    private final Worker worker;
    private final Segments segments;
    private final Request request = new Request();
    private byte[] key = new byte[256];
    /** The agent whose request is in the worker. */
    private @Nullable Object user;
    /** The worker is in a step. If the next step finds it set, the last one failed. */
    private boolean stepping;

    private volatile boolean releaseRequested;

    /** @param worker for this one's exclusive use */
    public RetentionWorker(Worker worker, Segments segments) {
        this.worker = worker;
        this.segments = segments;
    }

    boolean isUsedBy(Object agent) {
        return user == agent;
    }

    /** Whether another agent has a request in flight. */
    boolean isTaken(Object agent) {
        return user != null && user != agent;
    }

    /**
     * Begins a GET of the object whose entry lies there, which ends the object if its lifetime is over. Under the index
     * lock, which keeps the entry in place while the key is copied.
     */
    void beginGet(Object agent, ShardPrimary primary, long address) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int keyLength = makeRoom(entry, at);
        request.get(EntryDescriptor.cacheId(entry, at), key, 0, keyLength).requestValue(false);
        place(primary.replica(), entry, at);
        worker.begin(primary, request);
        user = agent;
    }

    /**
     * Begins the eviction of the object whose entry lies there, unless another one replaces it meanwhile. Under the
     * index lock.
     */
    void beginEviction(Object agent, ShardPrimary primary, long address) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int keyLength = makeRoom(entry, at);
        request.delete(EntryDescriptor.cacheId(entry, at), key, 0, keyLength)
                .when(Condition.IF_VERSION, EntryDescriptor.objectVersion(entry, at, EntryDescriptor.flags(entry, at)));
        place(primary.replica(), entry, at);
        worker.beginEviction(primary, request);
        user = agent;
    }

    /** Begins the removal of a part. */
    void beginRemoval(Object agent, ShardPrimary primary, int partsId, byte[] partKey) {
        request.delete(partsId, partKey, 0, partKey.length);
        request.placed(
                primary.replica().partKeys().hashOf(partsId, partKey),
                primary.replica().shardId());
        worker.begin(primary, request);
        user = agent;
    }

    /** Begins the end of those sessions of one table that are unused for so many ticks of their leases. */
    void beginSessionEnds(Object agent, ShardPrimary primary, long[] ids, int count, int ticks) {
        request.closeSession(primary.replica().shardId(), ids[0]);
        worker.beginSessionEnds(primary, request, ids, count, ticks);
        user = agent;
    }

    /** Whether the key of the entry there lies in it. If not, the entry is damaged, and repaired. */
    boolean canReadKey(long address) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int length = FrameDescriptor.length(FrameDescriptor.wordPlain(entry, at));
        if (length <= entry.capacity() - at && EntryDescriptor.whyMalformed(entry, at, length) == null) {
            return true;
        }
        final int segment = segments.segmentOf(address);
        segments.damage().suspect(segment, segments.generation(segment));
        return false;
    }

    private int makeRoom(ByteBuffer entry, int at) {
        final int length = EntryDescriptor.keyLength(entry, at);
        if (length > key.length) {
            key = new byte[length];
        }
        return length;
    }

    /** Copies the key and computes its position. */
    private void place(ShardReplica replica, ByteBuffer entry, int at) {
        request.placed(replica.hashOf(entry, at, key), replica.shardId());
    }

    /** The position of an entry's key; the entry must stay in place. */
    long positionOf(ShardReplica replica, ByteBuffer entry, int at) {
        makeRoom(entry, at);
        return replica.positionOf(entry, at, key);
    }

    /**
     * Makes all progress possible now. An error may interrupt the mutation anywhere: the next step completes or drops
     * it, as the next owner of a worker context does. So an error here is an ordinary failure of the step.
     */
    Outcome step() {
        try {
            return advance();
        } catch (OutOfMemoryError | StackOverflowError e) {
            throw new IllegalStateException(
                    "a mutation of an agent was interrupted; its next step completes or drops it", e);
        }
    }

    private Outcome advance() {
        if (stepping) {
            if (!worker.finishLeftover()) {
                return Outcome.PENDING;
            }
            stepping = false;
            user = null;
            return Outcome.INTERRUPTED;
        }
        stepping = true;
        final boolean answered = worker.advance();
        stepping = false;
        if (answered) {
            user = null;
            return Outcome.ANSWERED;
        }
        final Outcome withdrawn =
                worker.awaitsLock() ? Outcome.LOCKED : worker.awaitsWindow() ? Outcome.AHEAD : Outcome.WITHOUT_ROOM;
        if (!worker.withdraw()) {
            return Outcome.PENDING;
        }
        user = null;
        return withdrawn;
    }

    /** Whether the response has that bit. */
    boolean answerHas(int bit) {
        return request.has(bit);
    }

    /** The response's version. */
    long answerVersion() {
        return request.version();
    }

    /** Releases what was acquired ahead. Nothing is in flight. */
    void releaseGrants() {
        worker.releaseGrants();
    }

    /** Requests the release of what was acquired ahead, once nothing is in flight. Any thread. */
    public void requestRelease() {
        releaseRequested = true;
    }

    @Override
    public String roleName() {
        return "retention";
    }

    @Override
    public boolean awaitsAnswer() {
        return user != null;
    }

    @Override
    public int doWork() {
        if (!releaseRequested || user != null) {
            return 0;
        }
        releaseRequested = false; // cleared first: a later request sets it again
        releaseGrants();
        return 1;
    }

    /** Closes a log that was opened before that sequence number, so that the cleaner can take it. */
    public boolean retireLogOlderThan(long sequence) {
        final int segment = worker.tLog().openSegment();
        if (user != null || segment < 0 || segments.sequence(segment) >= sequence) {
            return false;
        }
        worker.retireLog();
        return true;
    }
}
