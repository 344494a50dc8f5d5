package org.rowankv.server.request;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.protocol.Version;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.session.Completion;
import org.rowankv.server.session.SessionTable;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;

/**
 * What a request does to its key, decided by the primary under the key's lock: answer at once, or write an entry first.
 * An object whose lifetime is over is ended by a logged entry before anything that depends on it is decided, so that its
 * end is a fact on all replicas and no clock is asked twice. Owned by one worker.
 */
final class Decision {
    private static final byte[] NO_BYTES = new byte[0];

    private final Worker worker;
    private final EntryDraft draft;
    private final CurrentObject current;
    private final CompletedAnswer completedAnswer;

    private @Nullable Request request;
    private @Nullable ShardReplica shard;
    private @Nullable ShardPrimary primary;
    private long position;
    private byte[] copy = new byte[0];

    /** The entry under way only ends an object's life; the request is decided afterwards. */
    private boolean expiring;

    /** Nobody asks: the object is to make room in its cache. */
    private boolean evicting;

    /** The sessions to be ended because no request uses them, where no client asks for that; else null. */
    private long @Nullable [] unused;

    private int unusedCount;
    private int unusedTicks;
    private byte[] closings = NO_BYTES;

    private final SessionHold hold = new SessionHold();
    /** The entry under way only ends another session, to make room for the one that is opened afterwards. */
    private boolean replacing;

    private boolean awaitsSession;

    /** What an attempt before this one was answered without writing anything; this one must not write either. */
    private @Nullable Completion answeredBefore;

    /** The draft is the request's own: its completion. */
    private boolean ownEntry;

    private int bits;
    private Status status = Status.OK;
    private int answerBits;
    private boolean answersOwnVersion;
    private long answerVersion;
    private long answerPrevious;

    Decision(Worker worker, EntryDraft draft, CurrentObject current) {
        this.worker = worker;
        this.draft = draft;
        this.current = current;
        this.completedAnswer = new CompletedAnswer(worker.segments());
    }

    void begin(ShardPrimary shardPrimary, Request newRequest, long keyPosition) {
        primary = shardPrimary;
        shard = shardPrimary.replica();
        request = newRequest;
        position = keyPosition;
        bits = 0;
        expiring = false;
        evicting = false;
        unused = null;
        replacing = false;
        awaitsSession = false;
        answeredBefore = null;
        ownEntry = false;
        current.clear();
    }

    /** What has begun is the eviction of an object. */
    void evicts() {
        evicting = true;
    }

    /** What has begun is the end of sessions that no request uses; the request is a CLOSE_SESSION of the first of them. */
    void endsSessions(long[] ids, int count, int ticks) {
        unused = ids;
        unusedCount = count;
        unusedTicks = ticks;
    }

    /**
     * Whether nothing was decided, since the request's session is being ended, or all that may be open are in use, which is over
     * soon: what is answered then stands in the log, and not on a decision that may come to nothing.
     */
    boolean awaitsSession() {
        return awaitsSession;
    }

    /** The mutation is over, whatever became of it. */
    void end() {
        hold.end();
    }

    /** The request's caller is gone: nothing of it is read or answered any more. */
    void orphan() {
        request = null;
        expiring = false;
    }

    private Request asked() {
        if (request == null) {
            throw new AssertionError("no request");
        }
        return request;
    }

    private ShardReplica replica() {
        if (shard == null) {
            throw new AssertionError("no shard");
        }
        return shard;
    }

    /** True when the draft holds an entry to write; false when the request is answered. */
    boolean decide() {
        final Request asked = asked();
        switch (asked.operation()) {
            case OPEN_SESSION -> {
                return decideOpening(asked);
            }
            case CLOSE_SESSION -> {
                return decideClosing(asked);
            }
            default -> {
                if (asked.sessionId() != 0 && isKnown()) {
                    return false;
                }
                if (replica().clears().isDestroyed(asked.cacheId())) {
                    return answer(Status.UNKNOWN_CACHE, 0, 0, 0);
                }
                final boolean writes = asked.operation() == Operation.CLEAR ? clear() : decideKey();
                if (writes && ownEntry && answeredBefore != null) {
                    completedAnswer.replay(replica(), answeredBefore, asked);
                    return false;
                }
                return writes;
            }
        }
    }

    /**
     * A session is opened once: its id is not remembered for ever, but an opening that is older than what was forgotten is
     * refused. A full table ends the session that was unused for longest first, by an entry of its own.
     */
    private boolean decideOpening(Request asked) {
        final SessionTable sessions = replica().sessions(asked.sessionId());
        awaitsSession = false;
        if (hold.hasPlace()) {
            return openSession(asked); // another session was ended for it
        }
        final long newest = versions().last();
        if (sessions.isOpen(asked.sessionId())) {
            return answer(Status.OK, 0, newest, 0);
        }
        if (Version.epoch(asked.asOf()) != Version.epoch(newest)
                || sessions.mayBeClosed(asked.sessionId(), asked.asOf())) {
            return answer(Status.SESSION_EXPIRED, 0, newest, 0);
        }
        switch (hold.beginOpening(sessions, asked.connection())) {
            case HAS_PLACE -> {
                return openSession(asked);
            }
            case REPLACES -> {
                replacing = true;
                draft(EntryType.SESSION_CLOSE).request(hold.ending(0), 0, 0);
                worker.countReplacedSession();
                return true;
            }
            default -> {
                awaitsSession = true;
                return false;
            }
        }
    }

    private boolean openSession(Request asked) {
        draft(EntryType.SESSION_OPEN).request(asked.sessionId(), 0, 0);
        willAnswer(Status.OK, 0, 0, 0);
        answersOwnVersion = true;
        return true;
    }

    private boolean decideClosing(Request asked) {
        final SessionTable sessions = replica().sessions(asked.sessionId());
        final long[] ids = unused;
        if (ids != null) {
            return endUnused(sessions, ids);
        }
        awaitsSession = sessions.isEnding(asked.sessionId());
        if (awaitsSession || !sessions.isOpen(asked.sessionId())) {
            return !awaitsSession && answer(Status.OK, 0, 0, 0);
        }
        draft(EntryType.SESSION_CLOSE).request(asked.sessionId(), 0, 0);
        willAnswer(Status.OK, 0, 0, 0);
        return true;
    }

    /** One record for all of them: what ends sessions takes far less than what opened them. The answer's version is their number. */
    private boolean endUnused(SessionTable sessions, long[] ids) {
        hold.leave();
        final int count = hold.endUnused(sessions, ids, unusedCount, unusedTicks);
        if (count == 0) {
            return answer(Status.OK, 0, 0, 0);
        }
        final int length = (count - 1) * Long.BYTES;
        if (closings.length < length) {
            closings = new byte[length];
        }
        final ByteBuffer others = ByteBuffer.wrap(closings).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 1; i < count; i++) {
            others.putLong(hold.ending(i));
        }
        draft(EntryType.SESSION_CLOSE).value(closings, 0, length).request(hold.ending(0), 0, 0);
        willAnswer(Status.OK, ResultBits.REMOVED, count, 0);
        return true;
    }

    /** Whether the duplicate check answered the request, or has to be made again. */
    private boolean isKnown() {
        final Request asked = asked();
        final SessionTable sessions = replica().sessions(asked.sessionId());
        answeredBefore = null;
        awaitsSession = false;
        hold.leave(); // once more, after an object was found to be over: it is looked up anew
        while (true) {
            switch (sessions.enter(asked.sessionId(), asked.sequence())) {
                case NEW -> {
                    hold.enter(sessions, asked.sessionId());
                    return false;
                }
                case NO_SESSION -> {
                    answer(Status.SESSION_EXPIRED, 0, 0, 0);
                    return true;
                }
                case ANSWERED -> {
                    answer(Status.BAD_REQUEST, 0, 0, 0);
                    return true;
                }
                case ENDING -> {
                    awaitsSession = true;
                    return true;
                }
                case COMPLETED -> {
                    hold.enter(sessions, asked.sessionId());
                    final Completion completion = sessions.find(asked.sessionId(), asked.sequence());
                    if (completion == null) {
                        hold.leave();
                        continue; // forgotten in between
                    }
                    if (completion.isApplied()) {
                        completedAnswer.replay(replica(), completion, asked);
                        return true;
                    }
                    // A retry whose first reply was lost is decided again, for the value that it may ask for; but it
                    // may not write.
                    answeredBefore = completion;
                    return false;
                }
            }
        }
    }

    private boolean clear() {
        final Request asked = asked();
        identified(draft(EntryType.CLEAR).value(asked.value(), asked.valueOffset(), asked.valueLength()));
        willAnswer(Status.OK, 0, 0, 0);
        answersOwnVersion = true;
        return true;
    }

    private boolean decideKey() {
        final Request asked = asked();
        // An object already found expired left its value in the result; nothing else may overwrite it.
        final boolean copyValue = asked.wantsValue() && !ResultBits.has(bits, ResultBits.EXPIRED);
        final boolean verify = worker.verifiesReads() || copiesObject(asked);
        current.load(replica(), position, asked, copyValue, verify);
        if (!verify && actsOnLifetime(asked)) {
            current.load(replica(), position, asked, copyValue, true);
        }
        if (current.inDoubt || current.damaged && !overwrites(asked)) {
            return answer(Status.CORRUPTED, 0, 0, 0);
        }
        if (current.isKnown() && isOver()) {
            expiring = true;
            bits |= ResultBits.EXPIRED;
            draft(EntryType.DELETE).resultBits(ResultBits.EXPIRED).previousVersion(current.objectVersion);
            return true;
        }
        if (evicting) {
            return decideEviction();
        }
        return switch (asked.operation()) {
            case GET -> decideGet();
            case PUT -> decidePut();
            case DELETE -> decideDelete();
            case TOUCH -> decideTouch();
            default -> answer(Status.BAD_REQUEST, 0, 0, 0);
        };
    }

    /** Whether the object is logged once more, with another lifetime: damage would get a checksum that agrees. */
    private static boolean copiesObject(Request asked) {
        return asked.operation() == Operation.TOUCH || asked.accessTtlMs() != Ttl.UNCHANGED;
    }

    /**
     * Whether the end of the object's lifetime goes into an entry: it is over, or is handed on to what replaces the object. A flipped
     * bit would end a live object on every replica.
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
     * Whether the request wants to know nothing of what is there: so what is damaged can be replaced and removed. A damaged entry
     * that says it holds no object may hold one all the same: a removal that did nothing would leave it on other replicas.
     */
    private boolean overwrites(Request asked) {
        return asked.condition() == Condition.ALWAYS
                && !asked.wantsValue()
                && (asked.operation() == Operation.PUT || asked.operation() == Operation.DELETE && current.present);
    }

    private boolean decideGet() {
        if (!current.present) {
            return answer(Status.NOT_FOUND, bits, versions().last(), 0);
        }
        bits |= ResultBits.EXISTED;
        return touchOrAnswer(Status.OK);
    }

    private org.rowankv.protocol.VersionCounter versions() {
        if (primary == null) {
            throw new AssertionError("no shard");
        }
        return primary.versions();
    }

    private boolean decidePut() {
        final Request asked = asked();
        final Status refused = refusal();
        if (refused == Status.CONDITION_FAILED && current.present) {
            return touchOrAnswer(refused);
        }
        if (refused != Status.OK) {
            return answer(refused, bits, 0, 0);
        }
        // What is damaged may have been an object: it is replaced like one, but nothing of it is believed or handed on.
        final boolean replaces = current.present || current.damaged;
        final long ttlMs = current.isKnown() ? asked.updateTtlMs() : asked.createTtlMs();
        if (ttlMs == Ttl.IMMEDIATE) {
            bits |= ResultBits.BORN_EXPIRED;
            return replaces ? end(bits | ResultBits.EXISTED) : answer(Status.OK, bits, 0, 0);
        }
        bits |= replaces ? ResultBits.EXISTED | ResultBits.UPDATED : ResultBits.CREATED;
        final long previous = current.knownVersion();
        final EntryDraft draft = identified(draft(EntryType.PUT))
                .value(asked.value(), asked.valueOffset(), asked.valueLength())
                .resultBits(bits)
                .previousVersion(previous)
                .expiryMs(expiryOf(ttlMs));
        withOldValue(draft);
        willAnswer(Status.OK, bits, 0, previous);
        answersOwnVersion = true;
        return true;
    }

    private boolean decideDelete() {
        final Status refused = current.present ? refusal() : Status.NOT_FOUND;
        if (refused == Status.CONDITION_FAILED) {
            return touchOrAnswer(refused);
        }
        return refused == Status.OK ? end(bits | ResultBits.EXISTED | ResultBits.REMOVED) : answer(refused, bits, 0, 0);
    }

    private boolean decideEviction() {
        final Status refused = current.present ? refusal() : Status.NOT_FOUND;
        if (refused != Status.OK) {
            return answer(refused, bits, 0, 0); // replaced since it was chosen, or gone
        }
        return evict();
    }

    private boolean evict() {
        bits |= ResultBits.EXISTED | ResultBits.EVICTED;
        draft(EntryType.DELETE).resultBits(bits).previousVersion(current.objectVersion);
        willAnswer(Status.OK, bits, 0, current.objectVersion);
        return true;
    }

    private boolean decideTouch() {
        final Status refused = current.present ? refusal() : Status.NOT_FOUND;
        if (refused != Status.OK) {
            return answer(refused, bits, current.present ? current.objectVersion : 0, 0);
        }
        bits |= ResultBits.EXISTED;
        return touchOrAnswer(Status.OK);
    }

    /** OK when the condition holds. */
    private Status refusal() {
        final Request asked = asked();
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
                || replica().clears().clearedUpTo(asked().cacheId()) > version
                || replica().deletions().forgottenUpTo() > version;
    }

    /** Ends a present object's life on behalf of the request. */
    private boolean end(int resultBits) {
        final long previous = current.knownVersion();
        final EntryDraft draft =
                identified(draft(EntryType.DELETE)).resultBits(resultBits).previousVersion(previous);
        withOldValue(draft);
        willAnswer(Status.OK, resultBits, 0, previous);
        answersOwnVersion = true;
        return true;
    }

    /** Answers with the present object's version, after giving it a new lifetime if the request has one for it. */
    private boolean touchOrAnswer(Status outcome) {
        final Request asked = asked();
        final long ttlMs = asked.accessTtlMs();
        final boolean own = asked.operation() == Operation.TOUCH;
        if (ttlMs == Ttl.UNCHANGED) {
            return answer(outcome, bits | ResultBits.EXISTED, current.objectVersion, 0);
        }
        bits |= ResultBits.EXISTED | ResultBits.TOUCHED;
        final EntryDraft draft;
        if (ttlMs == Ttl.IMMEDIATE) {
            draft = draft(EntryType.DELETE).resultBits(bits).previousVersion(current.objectVersion);
        } else {
            readObject();
            draft = draft(EntryType.TOUCH)
                    .value(copy, 0, current.valueLength)
                    .resultBits(bits)
                    .objectVersion(current.objectVersion)
                    .expiryMs(expiryOf(ttlMs));
        }
        if (own) {
            identified(draft);
        }
        willAnswer(outcome, bits, current.objectVersion, 0);
        return true;
    }

    /** A touch logs the object once more, so its value is needed here. */
    private void readObject() {
        copy = ObjectCopy.read(worker.segments(), replica(), position, asked(), copy);
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

    private EntryDraft draft(int type) {
        final Request asked = asked();
        answersOwnVersion = false;
        ownEntry = false;
        return draft.begin(type, replica().shardId(), asked.cacheId())
                .key(asked.key(), asked.keyOffset(), asked.keyLength());
    }

    private EntryDraft identified(EntryDraft own) {
        final Request asked = asked();
        ownEntry = true;
        return own.request(asked.sessionId(), asked.sequence(), asked.unanswered());
    }

    private void withOldValue(EntryDraft draft) {
        final Request asked = asked();
        if (asked.wantsValue() && current.present && asked.sessionId() != 0) {
            draft.oldValue(asked.result(), asked.resultLength());
        }
    }

    /** What holds an object needs space, unless it replaces something that is not smaller and is not kept. */
    boolean drawsSpace(int length) {
        final boolean inPlace = current.present && !current.keptForAnswer && length <= current.length;
        return EntryType.holdsObject(draft.type()) && !inPlace;
    }

    /** Whether the entry only ends something, and is not the first step to something that begins. */
    boolean endsSomething() {
        return EntryType.isTombstone(draft.type()) && !replacing;
    }

    private boolean answer(Status newStatus, int newBits, long version, long previous) {
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

    /** The mutation ends without an entry. A new lifetime that only comes with it is left out: reads go on in a full store. */
    void refuse(Status newStatus) {
        if (draft.type() == EntryType.TOUCH && !ownEntry) {
            answer(status, bits & ~ResultBits.TOUCHED, answerVersion, 0);
        } else {
            ownEntry = false;
            answer(newStatus, 0, 0, 0);
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
            worker.grant().giveBack(freed);
        }
    }

    private void willAnswer(Status newStatus, int newBits, long version, long previous) {
        status = newStatus;
        answerBits = newBits;
        answerVersion = version;
        answerPrevious = previous;
    }

    /** The entry is visible. True when the request is answered, false when it is to be decided now. */
    boolean applied() {
        if (expiring) {
            expiring = false;
            worker.countExpired();
            return false;
        }
        if (replacing) {
            replacing = false;
            hold.leave();
            return false;
        }
        if (hold.hasPlace()) {
            hold.opened(asked().sessionId(), asked().connection());
        }
        answer(status, answerBits, answersOwnVersion ? draft.version() : answerVersion, answerPrevious);
        return true;
    }
}
