package org.rowankv.server.request;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.Segments;
import org.rowankv.server.pm.SegmentOwner;
import org.rowankv.server.replication.Replicator;
import org.rowankv.server.shard.LimitedCaches;

/**
 * A worker context (§4.1 of the paper): its own t-log, its queue pairs to the backups, and one mutation at a time. Owned
 * by whoever borrowed it; what a borrower leaves unfinished, the next one finishes first.
 */
public final class Worker {
    private final int slot;
    private final int serverId;
    private final Segments segments;
    private final AppendLog tLog;
    private final EntryDraft draft = new EntryDraft();
    private final Replicator replicator;
    private final InFlight inFlight;
    private final SpacePressure pressure;
    private final Clock clock;
    private final LimitedCaches limits;
    private final SpaceGrant grant;
    private final Mutation mutation;
    /** The lap in which it wrote last, and what it wrote in it. */
    private long lap;

    private long writtenInLap;
    private final OwnedCounter expiredObjects = new OwnedCounter();

    public Worker(
            int slot,
            int serverId,
            Segments segments,
            Replicator replicator,
            InFlight inFlight,
            SpacePressure pressure,
            Clock clock,
            LimitedCaches limits) {
        this.slot = slot;
        this.serverId = serverId;
        this.segments = segments;
        this.tLog = new AppendLog(segments, SegmentOwner.WORKER);
        this.replicator = replicator;
        this.inFlight = inFlight;
        this.pressure = pressure;
        this.clock = clock;
        this.limits = limits;
        this.grant = new SpaceGrant(segments.space());
        this.mutation = new Mutation(this);
    }

    int slot() {
        return slot;
    }

    /** The identity under which it holds locks: ≥ 1. */
    int lockOwner() {
        return slot + 1;
    }

    int serverId() {
        return serverId;
    }

    Segments segments() {
        return segments;
    }

    public AppendLog tLog() {
        return tLog;
    }

    EntryDraft draft() {
        return draft;
    }

    Replicator replicator() {
        return replicator;
    }

    InFlight inFlight() {
        return inFlight;
    }

    /** Whether it is not so far ahead of others that it has to wait for them before it takes a version. */
    boolean mayWrite() {
        final long now = inFlight.lap();
        if (now != lap) {
            lap = now;
            writtenInLap = 0;
        }
        if (writtenInLap < inFlight.bytesPerLap()) {
            return true;
        }
        return inFlight.endLap(now);
    }

    /** An entry of so many bytes goes into the logs. */
    void writes(int length) {
        writtenInLap += length;
    }

    SpacePressure pressure() {
        return pressure;
    }

    Clock clock() {
        return clock;
    }

    LimitedCaches limits() {
        return limits;
    }

    SpaceGrant grant() {
        return grant;
    }

    /** Whether a mutation was left unfinished by a borrower that did not come back. */
    public boolean hasLeftover() {
        return !mutation.isIdle();
    }

    /** Goes on with what a former borrower left, for nobody: its request is not touched. True when nothing is left. */
    public boolean finishLeftover() {
        return mutation.isIdle() || mutation.recover();
    }

    /** Begins a request; nothing is left over. */
    public void begin(ShardPrimary primary, Request request) {
        mutation.begin(primary, request);
    }

    /**
     * Begins the eviction of an object; nothing is left over. The request is a DELETE on the condition of the object's
     * version; its answer has {@link org.rowankv.protocol.ResultBits#EVICTED}, or EXPIRED if the object's lifetime was over.
     */
    public void beginEviction(ShardPrimary primary, Request eviction) {
        mutation.beginEviction(primary, eviction);
    }

    /**
     * Begins the end of a session that nobody uses; nothing is left over. The request is a CLOSE_SESSION; it is answered OK
     * without having done anything if the session is used, or closed, by then.
     *
     * @param ticks of its lease that it may be unused
     */
    public void beginSessionEnd(ShardPrimary primary, Request close, int ticks) {
        mutation.beginSessionEnd(primary, close, ticks);
    }

    /** Does what can be done now; true when the request is answered. Never blocks. */
    public boolean advance() {
        return mutation.advance();
    }

    /** Whether the request has got no further than to its key's lock, which another mutation holds. */
    public boolean awaitsLock() {
        return mutation.awaitsLock();
    }

    /** Gives the request up, without an answer, if nothing of it was written; false if it is too late for that. */
    public boolean withdraw() {
        return mutation.withdraw();
    }

    void countExpired() {
        expiredObjects.add(1);
    }

    /** Objects whose end by lifetime was logged here. */
    public long expiredObjects() {
        return expiredObjects.get();
    }

    /** Closes the t-log's open segment, so that it can be cleaned. Nothing is in flight. */
    public void retireLog() {
        tLog.retire();
    }

    /** Gives back what was drawn ahead of entries that may never come. Nothing is in flight. */
    public void releaseGrants() {
        grant.giveBackAll();
        replicator.releaseCredit();
    }

    /** For the shutdown: nothing is in flight. */
    public void close() {
        tLog.retire();
        grant.giveBackAll();
        replicator.close();
    }

    @Nullable
    Request currentRequest() {
        return mutation.request();
    }
}
