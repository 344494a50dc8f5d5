package org.rowankv.server.request;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.replication.Replication;
import org.rowankv.server.shard.ShardPrimary;

/**
 * Admission of one mutation before it takes a version: space here, credit from every backup, room in the t-log. All of
 * it or nothing. FULL only after the lacking server has made two quiet cycles since it was first asked. Owned by one
 * mutation.
 */
final class Admission {
    private static final int ASK_AGAIN = 256;

    private final Worker worker;
    private final EntryDraft draft;
    private final MutationPlanner decision;
    private final Replication replication;

    private @Nullable VersionCounter versions;
    private boolean awaitsEpoch;
    /** Failed attempts to get another epoch, at the time this began to wait for one. */
    private long failuresBefore;

    private int shard;
    private int length;
    private int usedLength;
    private int charge;
    private boolean drawn;
    /**
     * The state of the space that {@link #drawn} refers to: acquired here and from the backups, neither used nor
     * released.
     */
    private boolean holdsSpace;

    private boolean holdsCredit;

    private int lackingServer;
    private long settledBefore;
    /** Since space was first requested. */
    private int refusals;
    /** Answers of the lacking server during what would be the last attempt. */
    private int lateAnswers;

    /** Expired objects may still free space. */
    private boolean awaitsExpiry;

    private long requestedNs;

    Admission(Worker worker, EntryDraft draft, MutationPlanner decision, Replication replication) {
        this.worker = worker;
        this.draft = draft;
        this.decision = decision;
        this.replication = replication;
    }

    /** Starts admission for a mutation of that shard; nothing is acquired yet. */
    void begin(ShardPrimary primary) {
        shard = primary.replica().shardId();
        versions = primary.versions();
        awaitsEpoch = false;
        lackingServer = -1;
        awaitsExpiry = false;
    }

    /** Padded length of the entry; valid after {@link #attempt}. */
    int length() {
        return length;
    }

    /** OK: the entry may be written. NO_REPLY: call again. Any other status is a refusal. */
    Status attempt() {
        holdsSpace = false;
        holdsCredit = false;
        final VersionCounter counter = versions;
        if (counter != null && !counter.mayTake()) {
            return refuseOrAwaitEpoch(counter);
        }
        final long used = draft.usedLength();
        if (Math.max(used, draft.longestSuccessor()) > worker.segments().length()) {
            return Status.TOO_LARGE;
        }
        usedLength = (int) used;
        length = EntryDescriptor.aligned(usedLength);
        charge = worker.segments().charge(length);
        drawn = decision.drawsSpace(length);
        worker.settleLog();
        if (worker.tLog().awaitsReplicas() && worker.tLog().room() < length) {
            return Status.NO_REPLY; // checked first: acquired space would only be released again
        }
        if (awaitsExpiry) {
            awaitsExpiry = worker.pressure().isExpiring(requestedNs);
            settledBefore = worker.pressure().quietCycles(lackingServer);
        }
        // Read before the attempt, so that the attempt finds space freed in between.
        final boolean lastAttempt =
                lackingServer >= 0 && worker.pressure().quietCycles(lackingServer) >= settledBefore + 2;
        final boolean awaited = lackingServer >= 0 && worker.replicator().awaitsCredit(lackingServer);
        int lacking = -1;
        if (drawn) {
            holdsSpace = worker.grant().acquire(charge);
            lacking = holdsSpace ? replication.acquireCredit(shard, usedLength) : worker.serverId();
            holdsCredit = lacking < 0;
            if (lacking >= 0) {
                release();
            }
        } else {
            draft.withoutSpace();
        }
        if (lacking >= 0 && lacking != worker.serverId() && worker.replicator().awaitsCredit(lacking)) {
            return Status.NO_REPLY; // the request was sent only now
        }
        if (lacking >= 0) {
            return refuseOrWait(lacking, lastAttempt && isHeard(lacking, awaited));
        }
        final boolean hasRoom = decision.endsSomething()
                ? worker.tLog().ensureRoom(length)
                : worker.tLog().ensureRoomToBegin(length);
        if (!hasRoom) {
            release();
            if (worker.tLog().awaitsReplicas()) {
                return Status.NO_REPLY;
            }
            return refuseOrWait(worker.serverId(), lastAttempt);
        }
        if (!drawn) {
            worker.grant().take(charge);
        }
        return Status.OK;
    }

    /** Waits for the shard's next epoch; NO_VERSION once an attempt to get one has failed since the wait began. */
    private Status refuseOrAwaitEpoch(VersionCounter counter) {
        if (!awaitsEpoch) {
            awaitsEpoch = true;
            failuresBefore = counter.failures();
        }
        worker.pressure().wakeUp(worker.serverId());
        return counter.failures() == failuresBefore ? Status.NO_REPLY : Status.NO_VERSION;
    }

    /**
     * Whether a refusal reflects that server's space as of the last attempt or later. Over a slow connection the first
     * answer may belong to an earlier request.
     *
     * @param awaited whether an answer was outstanding before this attempt
     */
    private boolean isHeard(int lacking, boolean awaited) {
        if (lacking == worker.serverId()) {
            return true;
        }
        lateAnswers++;
        return !awaited || lateAnswers > 1;
    }

    /** FULL only after that server's agents have made two quiet cycles since the first request. */
    private Status refuseOrWait(int lacking, boolean lastAttempt) {
        final SpacePressure pressure = worker.pressure();
        if (lacking == lackingServer && lastAttempt) {
            return Status.FULL;
        }
        if (lacking != lackingServer) {
            lackingServer = lacking;
            settledBefore = pressure.quietCycles(lacking);
            awaitsExpiry = true;
            requestedNs = worker.clock().nanoTime();
            refusals = 0;
            lateAnswers = 0;
        }
        if (refusals == 0) {
            pressure.requestSpace(lacking); // on every attempt: entries that blocked cleaning may be committed by now
        }
        refusals = refusals + 1 < ASK_AGAIN ? refusals + 1 : 0;
        pressure.wakeUp(lacking);
        return Status.NO_REPLY;
    }

    /** Releases what was acquired, before the entry is written. Idempotent. */
    void release() {
        if (holdsSpace) {
            holdsSpace = false;
            worker.grant().release(charge);
        }
        if (holdsCredit) {
            holdsCredit = false;
            replication.returnCredit();
        }
    }

    /** Releases what was granted when the entry was not written after all. */
    void takeBack() {
        if (!drawn) {
            drawn = true; // so that an interrupted end can be repeated
            worker.grant().release(charge);
        }
        release();
    }

    /** What is still held counts as used. */
    void end() {
        holdsSpace = false;
        holdsCredit = false;
    }
}
