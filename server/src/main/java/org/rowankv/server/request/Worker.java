package org.rowankv.server.request;

import org.rowankv.protocol.Request;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.Segments;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.replication.Replicator;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.ShardPrimary;

/**
 * A worker context (§4.1 of the paper): its own t-log, its queue pairs to the backups, and some mutations under way at once,
 * which are replicated together. Owned by whoever borrowed it; what a borrower leaves unfinished, the next one finishes first.
 */
public final class Worker {
    private final int serverId;
    private final Segments segments;
    private final AppendLog tLog;
    private final Replicator replicator;
    private final InFlightWindow inFlightWindow;
    private final SpacePressure pressure;
    private final Clock clock;
    private final LimitedCaches limits;
    private final SpaceGrant grant;
    private final Mutation[] mutations;
    /** The first of them: the only one of a borrower who has one request at a time. */
    private final Mutation mutation;

    /** Acknowledgements are being heard; found so later, an error has struck in the middle. */
    private boolean polling;

    private volatile boolean releaseWanted;
    private volatile long retiredBefore;
    /** The lap in which it wrote last, and what it wrote in it. */
    private long lap;

    private long writtenInLap;
    /** Whether an object is checked before a request acts upon it. */
    private boolean verifiesReads;

    private final OwnedCounter expiredObjects = new OwnedCounter();
    private final OwnedCounter replacedSessions = new OwnedCounter();

    /**
     * @param firstSlot of the versions in flight: of its first mutation; those of the others follow
     * @param atOnce mutations under way at once, at most
     */
    public Worker(
            int firstSlot,
            int atOnce,
            int serverId,
            Segments segments,
            Replicator replicator,
            InFlightWindow inFlightWindow,
            SpacePressure pressure,
            Clock clock,
            LimitedCaches limits) {
        this.serverId = serverId;
        this.segments = segments;
        this.tLog = new AppendLog(segments, SegmentOwner.WORKER, this::hasUnderWay);
        this.replicator = replicator;
        this.inFlightWindow = inFlightWindow;
        this.pressure = pressure;
        this.clock = clock;
        this.limits = limits;
        this.grant = new SpaceGrant(segments.space());
        this.mutations = new Mutation[atOnce];
        for (int number = 0; number < atOnce; number++) {
            mutations[number] = new Mutation(this, firstSlot + number);
        }
        this.mutation = mutations[0];
    }

    /** Before its first mutation: every object is checked that a request acts upon. */
    public void verifyReads() {
        verifiesReads = true;
    }

    boolean verifiesReads() {
        return verifiesReads;
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

    Replicator replicator() {
        return replicator;
    }

    InFlightWindow inFlightWindow() {
        return inFlightWindow;
    }

    /** Whether it is not so far ahead of others that it has to wait for them before it takes a version. */
    boolean mayWrite() {
        final long now = inFlightWindow.lap();
        if (now != lap) {
            lap = now;
            writtenInLap = 0;
        }
        if (writtenInLap < inFlightWindow.bytesPerLap()) {
            return true;
        }
        return inFlightWindow.advanceWindow(now);
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
        for (Mutation each : mutations) {
            if (!each.isIdle()) {
                return true;
            }
        }
        return false;
    }

    /** Goes on with what a former borrower left, for nobody: its requests are not touched. True when nothing is left. */
    public boolean finishLeftover() {
        boolean finished = true;
        for (int number = 0; number < mutations.length; number++) {
            finished &= mutations[number].isIdle() || finishLeftover(number);
        }
        return finished;
    }

    /** The same, of one of its mutations. */
    public boolean finishLeftover(int number) {
        if (mutations[number].recover()) {
            return true;
        }
        poll();
        return mutations[number].recover();
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
     * Begins the end of sessions that no request uses; nothing is left over. The request is a CLOSE_SESSION of the first of them. Its
     * answer is OK, with {@link org.rowankv.protocol.ResultBits#REMOVED} and their number as its version if any was ended: those
     * that are used, or closed, by then are left out.
     *
     * @param ids at the beginning of the array, all of one table of the shard; not to be changed until the answer
     * @param ticks of its lease that each may be unused
     */
    public void beginSessionEnds(ShardPrimary primary, Request close, long[] ids, int count, int ticks) {
        mutation.beginSessionEnds(primary, close, ids, count, ticks);
    }

    /** Does what can be done now; true when the request is answered. Never blocks. */
    public boolean advance() {
        if (mutation.advance()) {
            return true;
        }
        poll();
        return mutation.advance();
    }

    /** How many mutations can be under way at once. */
    public int atOnce() {
        return mutations.length;
    }

    /** Whether that one of them has nothing to do. */
    public boolean isIdle(int number) {
        return mutations[number].isIdle();
    }

    /** Begins a request in that one, which is idle. */
    public void begin(int number, ShardPrimary primary, Request request) {
        mutations[number].begin(primary, request);
    }

    /**
     * Does for that one what can be done without hearing from others; true when its request is answered. What it posts goes out
     * with {@link #poll}, which is also what it waits for.
     */
    public boolean advance(int number) {
        return mutations[number].advance();
    }

    /** Sends what has been posted, all together, and hears what backups have acknowledged. */
    public void poll() {
        if (polling) {
            for (Mutation each : mutations) {
                each.acknowledgementsLost();
            }
        }
        polling = true;
        replicator.poll();
        polling = false;
        tLog.settle();
        if (releaseWanted) {
            releaseWanted = false; // before: who wants it from now on wants it once more
            grant.giveBackAll();
            replicator.releaseSpareCredit();
        }
        final int segment = tLog.openSegment();
        if (segment >= 0 && segments.sequence(segment) < retiredBefore) {
            tLog.retire();
        }
    }

    /** A log that is full is closed, if nothing of it is under way: before the worker context rests. */
    public void settleLog() {
        tLog.settle();
    }

    private boolean hasUnderWay(int segment) {
        for (Mutation each : mutations) {
            if (each.isUnderWayIn(segment)) {
                return true;
            }
        }
        return false;
    }

    /** Who has it is to close its log, if that was opened before that sequence number. Any thread. */
    public void requestRetire(long sequence) {
        retiredBefore = sequence;
    }

    /** Who has it is to give back what was drawn ahead. Any thread. */
    public void requestRelease() {
        releaseWanted = true;
    }

    /** Whether the request has got no further than to its key's lock, which another mutation holds. */
    public boolean awaitsLock() {
        return mutation.awaitsLock();
    }

    /** Whether what it has to wait for is that others end what they began before it may write more. */
    public boolean awaitsLap() {
        return mutation.awaitsLap();
    }

    /** Gives the request up, without an answer, if nothing of it was written; false if it is too late for that. */
    public boolean withdraw() {
        return mutation.withdraw();
    }

    void countReplacedSession() {
        replacedSessions.add(1);
    }

    /** Sessions that were ended so that others could be opened. */
    public long replacedSessions() {
        return replacedSessions.get();
    }

    void countExpired() {
        expiredObjects.add(1);
    }

    /** Objects whose end by lifetime was logged here. */
    public long expiredObjects() {
        return expiredObjects.get();
    }

    /** Closes the t-log's open segment, so that it can be cleaned, once nothing of it is under way. */
    public void retireLog() {
        tLog.retire();
    }

    /** Gives back what was drawn ahead of entries that may never come. Nothing is under way. */
    public void releaseGrants() {
        grant.giveBackAll();
        replicator.releaseCredit();
    }

    /** For the shutdown: nothing is in flight. */
    public void close() {
        tLog.close();
        grant.giveBackAll();
        replicator.close();
    }
}
