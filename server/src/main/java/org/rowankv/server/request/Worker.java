package org.rowankv.server.request;

import org.rowankv.protocol.Request;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.authority.AnswerPermit;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.Segments;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.replication.Replicator;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.ShardPrimary;

/**
 * A worker context (§4.1 of the paper): a t-log, queue pairs to the backups, and several mutations in flight, which are
 * replicated together. Owned by the thread that acquired it. The next owner first completes what an owner abandoned.
 */
public final class Worker {
    private final int serverId;
    private final Segments segments;
    private final CurrentRoles roles;
    private final AnswerPermit permit;
    private final AppendLog tLog;
    private final Replicator replicator;
    private final InFlightWindow inFlightWindow;
    private final SpacePressure pressure;
    private final Clock clock;
    private final LimitedCaches limits;
    private final SpaceGrant grant;
    private final Mutation[] mutations;
    /** The first mutation: the only one of an owner with one request at a time. */
    private final Mutation mutation;

    /** The replicator is being polled. If it is set at the next poll, an error has interrupted the last one. */
    private boolean polling;

    private volatile boolean releaseRequested;
    private volatile long retiredBefore;
    /** The in-flight window of its last write, and the bytes written in that window. */
    private long lastWindow;

    private long writtenInWindow;
    /** Whether an object is verified before a request acts on it. */
    private boolean verifiesReads;

    private final int minReplicas;

    private final OwnedCounter expiredObjects = new OwnedCounter();
    private final OwnedCounter replacedSessions = new OwnedCounter();

    /**
     * @param firstSlot in the in-flight window: of its first mutation; the others follow
     * @param atOnce mutations in flight, at most
     * @param minReplicas complete replicas without which a shard takes no mutation of a client
     */
    public Worker(
            int firstSlot,
            int atOnce,
            int serverId,
            Segments segments,
            CurrentRoles roles,
            AnswerPermit permit,
            Replicator replicator,
            InFlightWindow inFlightWindow,
            SpacePressure pressure,
            Clock clock,
            LimitedCaches limits,
            int minReplicas) {
        this.serverId = serverId;
        this.segments = segments;
        this.roles = roles;
        this.permit = permit;
        this.tLog = new AppendLog(segments, SegmentOwner.WORKER, this::hasInFlight);
        this.replicator = replicator;
        this.inFlightWindow = inFlightWindow;
        this.pressure = pressure;
        this.clock = clock;
        this.limits = limits;
        this.minReplicas = minReplicas;
        this.grant = new SpaceGrant(segments.space());
        this.mutations = new Mutation[atOnce];
        for (int number = 0; number < atOnce; number++) {
            mutations[number] = new Mutation(this, firstSlot + number);
        }
        this.mutation = mutations[0];
    }

    /** Verifies every object that a request acts on. Call before the first mutation. */
    public void verifyReads() {
        verifiesReads = true;
    }

    /** Whether that shard has too few complete replicas for a mutation. */
    boolean isUnderReplicated(ShardPrimary primary) {
        return minReplicas > 1 && roles.get().completeReplicas(primary.replica().shardId()) < minReplicas;
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

    /** Whether that primary is in force still. */
    boolean isInForce(ShardPrimary primary) {
        return roles.has(primary);
    }

    /** Whether that primary may take another version. */
    boolean mayBegin(ShardPrimary primary) {
        return roles.mayBegin(primary);
    }

    /** Whether an answer may rest on what was read of that primary's replica, without an entry that backups have. */
    boolean mayAnswer(ShardPrimary primary) {
        return permit.mayAnswer() && roles.has(primary);
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

    /** Whether it may take a version in the current in-flight window; if not, it is too far ahead of other workers. */
    boolean hasWindow() {
        final long now = inFlightWindow.window();
        if (now != lastWindow) {
            lastWindow = now;
            writtenInWindow = 0;
        }
        if (writtenInWindow < inFlightWindow.bytesPerWindow()) {
            return true;
        }
        return inFlightWindow.advanceWindow(now);
    }

    /** Accounts an entry of that length against the window. */
    void writes(int length) {
        writtenInWindow += length;
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

    /** Whether an owner abandoned a mutation. */
    public boolean hasLeftover() {
        for (Mutation each : mutations) {
            if (!each.isIdle()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Completes what a former owner abandoned, without a response: its requests are not touched. True when nothing is
     * left.
     */
    public boolean finishLeftover() {
        boolean finished = true;
        for (int number = 0; number < mutations.length; number++) {
            finished &= mutations[number].isIdle() || finishLeftover(number);
        }
        return finished;
    }

    /** The same for one of its mutations. */
    public boolean finishLeftover(int number) {
        if (mutations[number].recover()) {
            return true;
        }
        poll();
        return mutations[number].recover();
    }

    /** Begins a request; requires that nothing is abandoned. */
    public void begin(ShardPrimary primary, Request request) {
        mutation.begin(primary, request);
    }

    /**
     * Begins the eviction of an object; requires that nothing is abandoned. The request is a DELETE conditional on the
     * object's version. Its response has {@link org.rowankv.protocol.ResultBits#EVICTED}, or EXPIRED if the object's
     * lifetime was over.
     */
    public void beginEviction(ShardPrimary primary, Request eviction) {
        mutation.beginEviction(primary, eviction);
    }

    /**
     * Begins the end of unused sessions; requires that nothing is abandoned. The request is a CLOSE_SESSION of the
     * first of them. Its response is OK, with {@link org.rowankv.protocol.ResultBits#REMOVED} and their number as its
     * version if any was ended. Sessions used or closed meanwhile are skipped.
     *
     * @param ids at the beginning of the array, all of one table of the shard; unchanged until the response
     * @param ticks of its lease for which each must be unused
     */
    public void beginSessionEnds(ShardPrimary primary, Request close, long[] ids, int count, int ticks) {
        mutation.beginSessionEnds(primary, close, ids, count, ticks);
    }

    /** Makes all progress possible now; true when the request is complete. Never blocks. */
    public boolean advance() {
        if (mutation.advance()) {
            return true;
        }
        poll();
        return mutation.advance();
    }

    /** The maximum number of mutations in flight. */
    public int atOnce() {
        return mutations.length;
    }

    /** Whether that mutation is idle. */
    public boolean isIdle(int number) {
        return mutations[number].isIdle();
    }

    /** Begins a request in that mutation, which is idle. */
    public void begin(int number, ShardPrimary primary, Request request) {
        mutations[number].begin(primary, request);
    }

    /**
     * Advances that mutation without polling; true when its request is complete. {@link #poll} sends what it posts and
     * receives what it waits for.
     */
    public boolean advance(int number) {
        return mutations[number].advance();
    }

    /** Sends all posted messages together, and processes acknowledgements of backups. */
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
        if (releaseRequested) {
            releaseRequested = false; // cleared first: a later request sets it again
            grant.releaseAll();
            replicator.releaseSpareCredit();
        }
        final int segment = tLog.openSegment();
        if (segment >= 0 && segments.sequence(segment) < retiredBefore) {
            tLog.retire();
        }
    }

    /** Closes a full log if none of its entries are in flight. Call before the worker context goes idle. */
    public void settleLog() {
        tLog.settle();
    }

    private boolean hasInFlight(int segment) {
        for (Mutation each : mutations) {
            if (each.isUnderWayIn(segment)) {
                return true;
            }
        }
        return false;
    }

    /** Requests that the owner close its log if that was opened before that sequence number. Any thread. */
    public void requestRetire(long sequence) {
        retiredBefore = sequence;
    }

    /** Requests that the owner release what it acquired ahead. Any thread. */
    public void requestRelease() {
        releaseRequested = true;
    }

    /** Whether the request waits for its key's lock, which another mutation holds. */
    public boolean awaitsLock() {
        return mutation.awaitsLock();
    }

    /** Whether the request waits for the in-flight window to advance. */
    public boolean awaitsWindow() {
        return mutation.awaitsWindow();
    }

    /** Cancels the request without a response, if nothing of it is written; false if it is too late. */
    public boolean withdraw() {
        return mutation.withdraw();
    }

    void countReplacedSession() {
        replacedSessions.add(1);
    }

    /** Sessions ended so that others could be opened. */
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

    /** Closes the t-log's open segment, so that it can be cleaned, once none of its entries are in flight. */
    public void retireLog() {
        tLog.retire();
    }

    /** Releases what was acquired ahead of entries. Requires that nothing is in flight. */
    public void releaseGrants() {
        grant.releaseAll();
        replicator.releaseCredit();
    }

    /** For shutdown; requires that nothing is in flight. */
    public void close() {
        tLog.close();
        grant.releaseAll();
        replicator.close();
    }
}
