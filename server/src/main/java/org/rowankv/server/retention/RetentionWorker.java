package org.rowankv.server.retention;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.request.Worker;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;

/**
 * The worker context of the agents that end objects and sessions: one for all of them, since they share a thread, and one of their own,
 * since callers that wait for room may hold all others. It never waits where it can withdraw.
 *
 * <p>For the thread that turns the agents, one user at a time, except where said. As an agent it gives back what its users have
 * left: what one of them had asked for at a backup may be granted after he was through.
 */
public final class RetentionWorker implements Agent {
    /** What became of a turn. */
    enum Outcome {
        /** Backups have yet to acknowledge. */
        PENDING,
        /** The request is answered. */
        ANSWERED,
        /** Somebody holds the key's lock; nothing was done. */
        LOCKED,
        /** There is no room in the log even for the end of an object; nothing was done. */
        WITHOUT_ROOM,
        /** It has written all it may before others have ended what they began; nothing was done. */
        AHEAD,
        /** An error struck the turn before this one; what was begun is finished or dropped. */
        STRUCK
    }

    private final Worker worker;
    private final Segments segments;
    private final Request request = new Request();
    private byte[] key = new byte[256];
    /** Whose request is in the worker. */
    private @Nullable Object user;
    /** The worker is being turned; found so by the next turn, an error has struck it. */
    private boolean turning;

    private volatile boolean releaseWanted;

    /** @param worker nobody else's */
    public RetentionWorker(Worker worker, Segments segments) {
        this.worker = worker;
        this.segments = segments;
    }

    boolean isUsedBy(Object agent) {
        return user == agent;
    }

    /** Whether another agent has a request under way. */
    boolean isTaken(Object agent) {
        return user != null && user != agent;
    }

    /**
     * Begins a GET of the object whose entry lies there, which ends the object if its lifetime is over. Under the index
     * lock, which keeps the entry where it is: so the key is copied.
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

    /** Begins the eviction of the object whose entry lies there, unless it is another one by then. Under the index lock. */
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

    /** Begins the end of those sessions of one table that were not used for so many ticks of their leases. */
    void beginSessionEnds(Object agent, ShardPrimary primary, long[] ids, int count, int ticks) {
        request.closeSession(primary.replica().shardId(), ids[0]);
        worker.beginSessionEnds(primary, request, ids, count, ticks);
        user = agent;
    }

    private int makeRoom(ByteBuffer entry, int at) {
        final int length = EntryDescriptor.keyLength(entry, at);
        if (length > key.length) {
            key = new byte[length];
        }
        return length;
    }

    /** Copies the key, to hash it. */
    private void place(ShardReplica replica, ByteBuffer entry, int at) {
        request.placed(replica.hashOf(entry, at, key), replica.shardId());
    }

    /** The position of the key of an entry that stays where it is. */
    long positionOf(ShardReplica replica, ByteBuffer entry, int at) {
        makeRoom(entry, at);
        return replica.positionOf(entry, at, key);
    }

    /**
     * Does what can be done now. An error may cut the mutation off anywhere: the next turn finishes or drops it, as the next
     * borrower does of a worker context in which a caller was struck. So here an error is an ordinary failure of the turn.
     */
    Outcome turn() {
        try {
            return advance();
        } catch (OutOfMemoryError | StackOverflowError e) {
            throw new IllegalStateException("a mutation of an agent was cut off, and is finished by its next turn", e);
        }
    }

    private Outcome advance() {
        if (turning) {
            if (!worker.finishLeftover()) {
                return Outcome.PENDING;
            }
            turning = false;
            user = null;
            return Outcome.STRUCK;
        }
        turning = true;
        final boolean answered = worker.advance();
        turning = false;
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

    /** Whether the answer has that bit. */
    boolean answerHas(int bit) {
        return request.has(bit);
    }

    /** The answer's version. */
    long answerVersion() {
        return request.version();
    }

    /** Gives back what was drawn ahead. Nothing is under way. */
    void releaseGrants() {
        worker.releaseGrants();
    }

    /** What was drawn ahead is to be given back once nothing is under way. Any thread. */
    public void requestRelease() {
        releaseWanted = true;
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
        if (!releaseWanted || user != null) {
            return 0;
        }
        releaseWanted = false; // before: who wants it from now on wants it once more
        releaseGrants();
        return 1;
    }

    /** Lets the cleaner have a log that was opened before that sequence number. */
    public boolean retireLogOlderThan(long sequence) {
        final int segment = worker.tLog().openSegment();
        if (user != null || segment < 0 || segments.sequence(segment) >= sequence) {
            return false;
        }
        worker.retireLog();
        return true;
    }
}
