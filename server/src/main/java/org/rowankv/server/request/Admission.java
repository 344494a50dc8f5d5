package org.rowankv.server.request;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.shard.ShardPrimary;

/**
 * Room for one mutation's entry, before it takes a version: space here, credit from every backup, room in the t-log. All of it or
 * nothing; and FULL only when whoever lacks space has done all it could since it was first asked. Owned by one mutation.
 */
final class Admission {
    private static final int ASK_AGAIN = 256;

    private final Worker worker;
    private final EntryDraft draft;
    private final MutationPlanner decision;

    private @Nullable VersionCounter versions;
    private boolean awaitsEpoch;
    /** Of the attempts to get another epoch, when it began to wait for one. */
    private long failuresBefore;

    private int shard;
    private int length;
    private int usedLength;
    private int charge;
    private boolean drawn;
    /** Of what {@link #drawn} stands for: drawn here, and from the backups, and neither used nor given back. */
    private boolean holdsSpace;

    private boolean holdsCredit;

    private int lackingServer;
    private long settledBefore;
    /** Since space was asked for. */
    private int refusals;
    /** Answers of the lacking server in what would be the last attempt. */
    private int lateAnswers;

    /** What has expired may still make room. */
    private boolean awaitsExpiry;

    private long wantedNs;

    Admission(Worker worker, EntryDraft draft, MutationPlanner decision) {
        this.worker = worker;
        this.draft = draft;
        this.decision = decision;
    }

    /** Of a mutation of that shard: nothing was asked for yet. */
    void begin(ShardPrimary primary) {
        shard = primary.replica().shardId();
        versions = primary.versions();
        awaitsEpoch = false;
        lackingServer = -1;
        awaitsExpiry = false;
    }

    /** Of the entry, with padding; once it was asked for. */
    int length() {
        return length;
    }

    /** OK: the entry may be written. Or a refusal; or NO_REPLY: to be asked again. */
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
            return Status.NO_REPLY; // asked first: what would be drawn would only be given back
        }
        if (awaitsExpiry) {
            awaitsExpiry = worker.pressure().isExpiring(wantedNs);
            settledBefore = worker.pressure().quietCycles(lackingServer);
        }
        // Asked before the attempt, so that space which comes back in between is found by it.
        final boolean lastAttempt =
                lackingServer >= 0 && worker.pressure().quietCycles(lackingServer) >= settledBefore + 2;
        final boolean awaited = lackingServer >= 0 && worker.replicator().awaitsCredit(lackingServer);
        int lacking = -1;
        if (drawn) {
            holdsSpace = worker.grant().draw(charge);
            lacking = holdsSpace ? worker.replicator().acquireCredit(shard, usedLength) : worker.serverId();
            holdsCredit = lacking < 0;
            if (lacking >= 0) {
                giveBack();
            }
        } else {
            draft.withoutSpace();
        }
        if (lacking >= 0 && lacking != worker.serverId() && worker.replicator().awaitsCredit(lacking)) {
            return Status.NO_REPLY; // it was asked only now
        }
        if (lacking >= 0) {
            return refuseOrWait(lacking, lastAttempt && isHeard(lacking, awaited));
        }
        final boolean hasRoom = decision.endsSomething()
                ? worker.tLog().ensureRoom(length)
                : worker.tLog().ensureRoomToBegin(length);
        if (!hasRoom) {
            giveBack();
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

    /** The shard gets another epoch now, or an attempt to get one has failed since this has waited for it. */
    private Status refuseOrAwaitEpoch(VersionCounter counter) {
        if (!awaitsEpoch) {
            awaitsEpoch = true;
            failuresBefore = counter.failures();
        }
        worker.pressure().wakeUp(worker.serverId());
        return counter.failures() == failuresBefore ? Status.NO_REPLY : Status.NO_VERSION;
    }

    /**
     * Whether a refusal is that server's word about its space, asked for in the last attempt or since. Where the answer
     * takes time, the first one may be to a question from before.
     *
     * @param awaited whether an answer was awaited before this attempt
     */
    private boolean isHeard(int lacking, boolean awaited) {
        if (lacking == worker.serverId()) {
            return true;
        }
        lateAnswers++;
        return !awaited || lateAnswers > 1;
    }

    /** FULL is the answer only after that server's agents have done all they could, since it was first asked. */
    private Status refuseOrWait(int lacking, boolean lastAttempt) {
        final SpacePressure pressure = worker.pressure();
        if (lacking == lackingServer && lastAttempt) {
            return Status.FULL;
        }
        if (lacking != lackingServer) {
            lackingServer = lacking;
            settledBefore = pressure.quietCycles(lacking);
            awaitsExpiry = true;
            wantedNs = worker.clock().nanoTime();
            refusals = 0;
            lateAnswers = 0;
        }
        if (refusals == 0) {
            pressure.requestSpace(lacking); // again and again: what could not be cleaned before may be committed by now
        }
        refusals = refusals + 1 < ASK_AGAIN ? refusals + 1 : 0;
        pressure.wakeUp(lacking);
        return Status.NO_REPLY;
    }

    /** Before the entry is written: what was drawn for it, as often as it is asked. */
    void giveBack() {
        if (holdsSpace) {
            holdsSpace = false;
            worker.grant().giveBack(charge);
        }
        if (holdsCredit) {
            holdsCredit = false;
            worker.replicator().giveBackCredit(shard, usedLength);
        }
    }

    /** After it was granted, when the entry was not written in spite of that. */
    void takeBack() {
        if (!drawn) {
            worker.grant().giveBack(charge);
        }
        giveBack();
    }

    /** What is held still is used. */
    void end() {
        holdsSpace = false;
        holdsCredit = false;
    }
}
