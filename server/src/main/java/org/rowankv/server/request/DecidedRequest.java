package org.rowankv.server.request;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;

/**
 * The request that a {@link MutationPlanner} decides, the draft of its entry, and its response: sent at once, or once
 * the entry is visible. Owned by one worker.
 */
final class DecidedRequest {
    private final Worker worker;
    private final EntryDraft draft;

    private @Nullable Request request;
    private @Nullable ShardReplica shard;
    private @Nullable ShardPrimary primary;

    /** The draft is the request's own entry, hence its completion. */
    private boolean ownEntry;

    private Status status = Status.OK;
    private int answerBits;
    private boolean answersOwnVersion;
    private long answerVersion;
    private long answerPrevious;

    DecidedRequest(Worker worker, EntryDraft draft) {
        this.worker = worker;
        this.draft = draft;
    }

    void begin(ShardPrimary shardPrimary, Request newRequest) {
        primary = shardPrimary;
        shard = shardPrimary.replica();
        request = newRequest;
        ownEntry = false;
    }

    void orphan() {
        request = null;
    }

    Request asked() {
        if (request == null) {
            throw new AssertionError("no request");
        }
        return request;
    }

    ShardReplica replica() {
        if (shard == null) {
            throw new AssertionError("no shard");
        }
        return shard;
    }

    VersionCounter versions() {
        return primary().versions();
    }

    ShardPrimary primary() {
        if (primary == null) {
            throw new AssertionError("no shard");
        }
        return primary;
    }

    boolean ownsEntry() {
        return ownEntry;
    }

    EntryDraft draft(int type) {
        final Request asked = asked();
        answersOwnVersion = false;
        ownEntry = false;
        return draft.begin(type, replica().shardId(), asked.cacheId())
                .key(asked.key(), asked.keyOffset(), asked.keyLength());
    }

    EntryDraft identified(EntryDraft own) {
        final Request asked = asked();
        ownEntry = true;
        return own.request(asked.sessionId(), asked.sequence(), asked.unanswered());
    }

    /** The response's version is that of the request's entry. */
    void answersOwnVersion() {
        answersOwnVersion = true;
    }

    /**
     * Completes the request without an entry, if that is permitted now: what it rests on was read before. Otherwise the
     * request is refused, and nothing of the decision remains.
     */
    boolean answer(Status newStatus, int newBits, long version, long previous) {
        return mayAnswer() ? complete(newStatus, newBits, version, previous) : refuseNotPrimary();
    }

    /** Whether an answer may rest on this server's replica alone. */
    boolean mayAnswer() {
        return primary != null && worker.mayAnswer(primary);
    }

    /** Another server may be the primary by now. Nothing is remembered: a retry of this request is a new one. */
    boolean refuseNotPrimary() {
        final Request asked = asked();
        asked.noResult();
        asked.answer(Status.NOT_PRIMARY, 0, 0, 0);
        return false;
    }

    /** Nothing of this request is applied, nor remembered: a retry is decided anew. */
    boolean refuseUnderReplicated() {
        final Request asked = asked();
        asked.noResult();
        asked.answer(Status.UNDER_REPLICATED, 0, 0, 0);
        return false;
    }

    /** Whether this is a client's mutation, of a shard that has too few complete replicas now. */
    boolean isUnderReplicated() {
        final Request asked = asked();
        return asked.sessionId() != 0 && asked.operation().isMutation() && worker.isUnderReplicated(primary());
    }

    private boolean complete(Status newStatus, int newBits, long version, long previous) {
        final Request asked = asked();
        if (!ResultBits.has(newBits, ResultBits.EXISTED) && !ResultBits.has(newBits, ResultBits.EXPIRED)) {
            asked.noResult();
        }
        asked.answer(newStatus, newBits, version, previous);
        if (!ownEntry) {
            rememberAnswer(newStatus, newBits, version);
        }
        return false;
    }

    /**
     * Ends the mutation without an entry, for lack of space or of a version. A new lifetime that only accompanies it is
     * dropped: reads continue in a full store.
     */
    void refuse(Status newStatus) {
        if (draft.type() == EntryType.TOUCH && !ownEntry) {
            answer(status, answerBits & ~ResultBits.TOUCHED, answerVersion, 0);
        } else {
            ownEntry = false;
            complete(newStatus, 0, 0, 0);
        }
    }

    private void rememberAnswer(Status newStatus, int newBits, long version) {
        final Request asked = asked();
        final boolean mutation = asked.operation().isMutation();
        if (mutation
                && asked.sessionId() != 0
                && newStatus != Status.SESSION_EXPIRED
                && newStatus != Status.BAD_REQUEST) {
            final int freed = replica()
                    .sessions(asked.sessionId())
                    .answeredWithoutEntry(
                            asked.sessionId(), asked.sequence(), asked.unanswered(), newStatus, version, newBits);
            worker.grant().release(freed);
        }
    }

    void willAnswer(Status newStatus, int newBits, long version, long previous) {
        status = newStatus;
        answerBits = newBits;
        answerVersion = version;
        answerPrevious = previous;
    }

    /** The entry is visible: completes the request as {@link #willAnswer} planned. */
    void answerAsPlanned() {
        if (ownEntry && isUnderReplicated()) {
            // Replicas were lost meanwhile. It has taken effect, and is acknowledged to a retry once others have it.
            final Request asked = asked();
            asked.noResult();
            asked.answer(Status.NO_REPLY, 0, 0, 0);
            return;
        }
        complete(status, answerBits, answersOwnVersion ? draft.version() : answerVersion, answerPrevious);
    }
}
