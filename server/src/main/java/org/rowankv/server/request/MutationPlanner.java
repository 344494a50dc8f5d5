package org.rowankv.server.request;

import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.shard.ShardPrimary;

/**
 * Decides a request on its key, on the primary under the key's lock: respond at once, or write an entry first. An
 * object whose lifetime is over is ended by a logged entry before any dependent decision. So its end is a fact on all
 * replicas, and no clock is read twice. Owned by one worker.
 */
final class MutationPlanner {
    private final Worker worker;
    private final EntryDraft draft;
    private final CurrentObject current;
    private final DecidedRequest decided;
    private final SessionDecision session;
    private final PinnedParts pinned;

    private long position;
    private byte[] copy = new byte[0];

    /** The pending entry only ends an object's lifetime; the request is decided afterwards. */
    private boolean expiring;

    /** No caller waits: the object is evicted. */
    private boolean evicting;

    private int bits;

    MutationPlanner(Worker worker, EntryDraft draft, CurrentObject current) {
        this.worker = worker;
        this.draft = draft;
        this.current = current;
        this.decided = new DecidedRequest(worker, draft);
        this.session = new SessionDecision(worker, decided);
        this.pinned = new PinnedParts(worker.segments());
    }

    void begin(ShardPrimary primary, Request request, long keyPosition) {
        decided.begin(primary, request);
        session.begin();
        position = keyPosition;
        bits = 0;
        expiring = false;
        evicting = false;
        current.clear();
    }

    /** Marks this mutation as an eviction. */
    void evicts() {
        evicting = true;
    }

    SessionDecision session() {
        return session;
    }

    /** The mutation has ended. */
    void end() {
        session.end();
        pinned.end();
    }

    /** The request's caller is dead: the request is neither read nor completed any more. */
    void orphan() {
        decided.orphan();
        expiring = false;
    }

    /** True when the draft holds an entry to write; false when the request is complete. */
    boolean decide() {
        final Request asked = decided.asked();
        switch (asked.operation()) {
            case OPEN_SESSION -> {
                return session.decideOpening(asked);
            }
            case CLOSE_SESSION -> {
                return session.decideClosing(asked);
            }
            default -> {
                if (decided.isUnderReplicated()) { // a repeated answer is an acknowledgement too
                    return decided.refuseUnderReplicated();
                }
                if (asked.sessionId() != 0 && session.isKnown(asked)) {
                    return false;
                }
                if (decided.replica().clears().isDestroyed(asked.cacheId())) {
                    return decided.answer(Status.UNKNOWN_CACHE, 0, 0, 0);
                }
                final boolean writes = asked.operation() == Operation.CLEAR ? clear() : decideKey();
                return writes && !(decided.ownsEntry() && session.replaysAnswer(asked));
            }
        }
    }

    private boolean clear() {
        final Request asked = decided.asked();
        decided.identified(
                decided.draft(EntryType.CLEAR).value(asked.value(), asked.valueOffset(), asked.valueLength()));
        decided.willAnswer(Status.OK, 0, 0, 0);
        decided.answersOwnVersion();
        return true;
    }

    private boolean decideKey() {
        final Request asked = decided.asked();
        // An expired object found before left its value in the result, which must not be overwritten.
        final boolean copyValue = asked.needsValue() && !ResultBits.has(bits, ResultBits.EXPIRED);
        final boolean verify = worker.verifiesReads() || copiesObject(asked);
        current.load(decided.replica(), position, asked, copyValue, verify);
        if (!verify && actsOnLifetime(asked)) {
            current.load(decided.replica(), position, asked, copyValue, true);
        }
        if (current.inDoubt || current.damaged && !overwrites(asked)) {
            return decided.answer(Status.CORRUPTED, current.damageBits, 0, 0);
        }
        if (current.isKnown() && isOver()) {
            expiring = true;
            bits |= ResultBits.EXPIRED;
            if (current.parts != null) {
                asked.noResult();
            }
            decided.draft(EntryType.DELETE).resultBits(ResultBits.EXPIRED).previousVersion(current.objectVersion);
            return true;
        }
        if (evicting) {
            return decideEviction();
        }
        if (returnsParts(asked) && asked.operation().isMutation()) {
            return decided.answer(Status.IN_PARTS, bits | ResultBits.EXISTED, current.objectVersion, 0);
        }
        return switch (asked.operation()) {
            case GET -> decideGet();
            case PUT -> decidePut();
            case DELETE -> decideDelete();
            case TOUCH -> decideTouch();
            default -> decided.answer(Status.BAD_REQUEST, 0, 0, 0);
        };
    }

    /** Whether the answer would carry the list of a value's parts instead of the value. */
    private boolean returnsParts(Request asked) {
        return current.parts != null && asked.needsValue();
    }

    /**
     * Whether the object is logged again, with another lifetime or as the old value of a change: damage would get a valid
     * checksum.
     */
    private static boolean copiesObject(Request asked) {
        return asked.operation() == Operation.TOUCH
                || asked.accessTtlMs() != Ttl.UNCHANGED
                || asked.needsValue()
                        && asked.sessionId() != 0
                        && asked.operation().isMutation();
    }

    /**
     * Whether the end of the object's lifetime goes into an entry: it is over, or is copied to what replaces the
     * object. A flipped bit would end a live object on every replica.
     */
    private boolean actsOnLifetime(Request asked) {
        return current.isKnown()
                && current.expiryMs != Long.MAX_VALUE
                && (isOver() || asked.operation() == Operation.PUT && asked.updateTtlMs() == Ttl.UNCHANGED);
    }

    private boolean isOver() {
        return current.expiryMs != Long.MAX_VALUE && worker.clock().wallMs() >= current.expiryMs;
    }

    /**
     * Whether the request is independent of the key's current state, so that a damaged object can be replaced or
     * removed. A damaged entry that reports no object may hold one: a removal without effect would leave it on other
     * replicas.
     */
    private boolean overwrites(Request asked) {
        return asked.condition() == Condition.ALWAYS
                && !asked.needsValue()
                && (asked.operation() == Operation.PUT || asked.operation() == Operation.DELETE && current.present);
    }

    private boolean decideGet() {
        if (!current.present) {
            return decided.answer(Status.NOT_FOUND, bits, decided.versions().last(), 0);
        }
        bits |= ResultBits.EXISTED;
        return touchOrAnswer(returnsParts(decided.asked()) ? Status.IN_PARTS : Status.OK);
    }

    private boolean decidePut() {
        final Request asked = decided.asked();
        final Status refused = refusal();
        if (refused == Status.CONDITION_FAILED && current.present) {
            return touchOrAnswer(refused);
        }
        if (refused != Status.OK) {
            return decided.answer(refused, bits, 0, 0);
        }
        // A damaged entry may have been an object: it is replaced like one, but nothing of it is used.
        final boolean replaces = current.present || current.damaged;
        final long ttlMs = current.isKnown() ? asked.updateTtlMs() : asked.createTtlMs();
        if (ttlMs == Ttl.IMMEDIATE) {
            bits |= ResultBits.BORN_EXPIRED;
            return replaces ? end(bits | ResultBits.EXISTED) : decided.answer(Status.OK, bits, 0, 0);
        }
        if (asked.isInParts() && !pinned.pin(decided.primary(), asked)) {
            return decided.answer(Status.PARTS_MISSING, bits, 0, 0);
        }
        bits |= replaces ? ResultBits.EXISTED | ResultBits.UPDATED : ResultBits.CREATED;
        final long previous = current.knownVersion();
        final EntryDraft draft = decided.identified(decided.draft(EntryType.PUT))
                .value(asked.value(), asked.valueOffset(), asked.valueLength())
                .resultBits(asked.isInParts() ? bits | ResultBits.IN_PARTS : bits)
                .previousVersion(previous)
                .expiryMs(expiryOf(ttlMs));
        withOldValue(draft);
        decided.willAnswer(Status.OK, bits, 0, previous);
        decided.answersOwnVersion();
        return true;
    }

    private boolean decideDelete() {
        final Status refused = current.present ? refusal() : Status.NOT_FOUND;
        if (refused == Status.CONDITION_FAILED) {
            return touchOrAnswer(refused);
        }
        return refused == Status.OK
                ? end(bits | ResultBits.EXISTED | ResultBits.REMOVED)
                : decided.answer(refused, bits, 0, 0);
    }

    private boolean decideEviction() {
        final Status refused = current.present ? refusal() : Status.NOT_FOUND;
        if (refused != Status.OK) {
            return decided.answer(refused, bits, 0, 0); // replaced or removed since it was selected
        }
        return evict();
    }

    private boolean evict() {
        bits |= ResultBits.EXISTED | ResultBits.EVICTED;
        decided.draft(EntryType.DELETE).resultBits(bits).previousVersion(current.objectVersion);
        decided.willAnswer(Status.OK, bits, 0, current.objectVersion);
        return true;
    }

    private boolean decideTouch() {
        final Status refused = current.present ? refusal() : Status.NOT_FOUND;
        if (refused != Status.OK) {
            return decided.answer(refused, bits, current.present ? current.objectVersion : 0, 0);
        }
        bits |= ResultBits.EXISTED;
        return touchOrAnswer(Status.OK);
    }

    /** OK when the condition holds. */
    private Status refusal() {
        final Request asked = decided.asked();
        final boolean present = current.present;
        if (present && asked.condition() != Condition.ALWAYS) {
            bits |= ResultBits.EXISTED;
        }
        return switch (asked.condition()) {
            case ALWAYS -> Status.OK;
            case IF_ABSENT -> present ? Status.CONDITION_FAILED : Status.OK;
            case IF_PRESENT -> present ? Status.OK : Status.NOT_FOUND;
            case IF_VERSION ->
                !present
                        ? Status.NOT_FOUND
                        : current.objectVersion == asked.expectedVersion() ? Status.OK : Status.CONDITION_FAILED;
            case IF_ABSENT_SINCE ->
                present || changedSince(asked.expectedVersion()) ? Status.CONDITION_FAILED : Status.OK;
        };
    }

    private boolean changedSince(long version) {
        return current.deletedAt() > version
                || decided.replica().clears().clearedUpTo(decided.asked().cacheId()) > version
                || decided.replica().deletions().forgottenUpTo() > version;
    }

    /** Ends a present object's lifetime for the request. */
    private boolean end(int resultBits) {
        final long previous = current.knownVersion();
        final EntryDraft draft = decided.identified(decided.draft(EntryType.DELETE))
                .resultBits(resultBits)
                .previousVersion(previous);
        withOldValue(draft);
        decided.willAnswer(Status.OK, resultBits, 0, previous);
        decided.answersOwnVersion();
        return true;
    }

    /** Responds with the present object's version, after setting a new lifetime if the request has one. */
    private boolean touchOrAnswer(Status outcome) {
        final Request asked = decided.asked();
        final long ttlMs = asked.accessTtlMs();
        final boolean own = asked.operation() == Operation.TOUCH;
        if (ttlMs == Ttl.UNCHANGED) {
            return decided.answer(outcome, bits | ResultBits.EXISTED, current.objectVersion, 0);
        }
        bits |= ResultBits.EXISTED | ResultBits.TOUCHED;
        final EntryDraft draft;
        if (ttlMs == Ttl.IMMEDIATE) {
            draft = decided.draft(EntryType.DELETE).resultBits(bits).previousVersion(current.objectVersion);
        } else {
            if (!readObject()) {
                return decided.answer(Status.CORRUPTED, current.answerBits(), 0, 0);
            }
            draft = decided.draft(EntryType.TOUCH)
                    .value(copy, 0, current.valueLength)
                    .resultBits(current.parts == null ? bits : bits | ResultBits.IN_PARTS)
                    .objectVersion(current.objectVersion)
                    .expiryMs(expiryOf(ttlMs));
        }
        if (own) {
            decided.identified(draft);
        }
        decided.willAnswer(outcome, bits, current.objectVersion, 0);
        return true;
    }

    /** A touch logs the object again, so its value is needed here. False if it is damaged. */
    private boolean readObject() {
        final byte[] read = ValueCopier.read(worker.segments(), decided.replica(), position, decided.asked(), copy);
        if (read == null) {
            return false;
        }
        copy = read;
        return true;
    }

    private long expiryOf(long ttlMs) {
        if (ttlMs == Ttl.UNCHANGED) {
            return current.isKnown() ? current.expiryMs : Long.MAX_VALUE;
        }
        if (ttlMs == Ttl.ETERNAL) {
            return Long.MAX_VALUE;
        }
        final long now = worker.clock().wallMs();
        return now > Long.MAX_VALUE - 1 - ttlMs ? Long.MAX_VALUE - 1 : now + ttlMs;
    }

    private void withOldValue(EntryDraft draft) {
        final Request asked = decided.asked();
        if (asked.needsValue() && current.present && asked.sessionId() != 0) {
            draft.oldValue(asked.result(), asked.resultLength());
        }
    }

    /** An entry that holds an object needs space, unless it replaces one that is no smaller and is not kept. */
    boolean drawsSpace(int length) {
        final boolean inPlace = current.present && !current.keptForAnswer && length <= current.length;
        return EntryType.holdsObject(draft.type()) && !inPlace;
    }

    /** Whether the entry only ends something, and is not the first step of a beginning. */
    boolean endsSomething() {
        return EntryType.isTombstone(draft.type()) && !session.isReplacing();
    }

    /** Ends the mutation without an entry. */
    void refuse(Status newStatus) {
        decided.refuse(newStatus);
    }

    /** The same, since another server is the primary now. */
    void refuseNotPrimary() {
        decided.refuseNotPrimary();
    }

    /** The entry is visible. True when the request is complete, false when it must be decided now. */
    boolean applied() {
        if (expiring) {
            expiring = false;
            worker.countExpired();
            return false;
        }
        if (session.hasReplaced()) {
            return false;
        }
        decided.answerAsPlanned();
        return true;
    }
}
