package org.rowankv.server.request;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.session.Completion;
import org.rowankv.server.session.SessionTable;

/**
 * The session part of a {@link MutationPlanner}: opening, end, and duplicate check of the client's session. Owned by
 * one worker.
 */
final class SessionDecision {
    private static final byte[] NO_BYTES = new byte[0];

    private final Worker worker;
    private final DecidedRequest decided;
    private final CompletedAnswer completedAnswer;
    private final SessionPin hold = new SessionPin();

    /** The sessions to end because no request uses them and no client closes them; else null. */
    private long @Nullable [] unused;

    private int unusedCount;
    private int unusedTicks;
    private byte[] closings = NO_BYTES;

    /** The pending entry only ends another session, to free its slot for the one opened afterwards. */
    private boolean replacing;

    private boolean awaitsSession;

    /** The response of an earlier attempt that wrote nothing; this attempt must not write either. */
    private @Nullable Completion answeredBefore;

    SessionDecision(Worker worker, DecidedRequest decided) {
        this.worker = worker;
        this.decided = decided;
        this.completedAnswer = new CompletedAnswer(worker.segments());
    }

    void begin() {
        unused = null;
        replacing = false;
        awaitsSession = false;
        answeredBefore = null;
    }

    /** Marks this mutation as the end of unused sessions; the request is a CLOSE_SESSION of the first of them. */
    void endsSessions(long[] ids, int count, int ticks) {
        unused = ids;
        unusedCount = count;
        unusedTicks = ticks;
    }

    /**
     * Whether the decision is deferred: the request's session is ending, or all slots are in use, both for a short
     * time. So the response rests on the log, not on a decision that may be dropped.
     */
    boolean awaitsSession() {
        return awaitsSession;
    }

    boolean isReplacing() {
        return replacing;
    }

    /** Ends the mutation, whatever its outcome. */
    void end() {
        hold.end();
    }

    /**
     * A session is opened once. Its id is not remembered for ever, but an opening older than what was forgotten is
     * refused. A full table first ends the session unused for longest, by an entry of its own.
     */
    boolean decideOpening(Request asked) {
        final SessionTable sessions = decided.replica().sessions(asked.sessionId());
        awaitsSession = false;
        if (hold.hasSlot()) {
            return openSession(asked); // another session has freed its slot
        }
        final long newest = decided.versions().last();
        if (sessions.isOpen(asked.sessionId())) {
            return decided.answer(Status.OK, 0, newest, 0);
        }
        if (Version.epoch(asked.asOf()) != Version.epoch(newest)
                || sessions.mayBeClosed(asked.sessionId(), asked.asOf())) {
            return decided.answer(Status.SESSION_EXPIRED, 0, newest, 0);
        }
        switch (hold.beginOpening(sessions, asked.connection())) {
            case HAS_SLOT -> {
                return openSession(asked);
            }
            case REPLACES -> {
                replacing = true;
                decided.draft(EntryType.SESSION_CLOSE).request(hold.ending(0), 0, 0);
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
        decided.draft(EntryType.SESSION_OPEN).request(asked.sessionId(), 0, 0);
        decided.willAnswer(Status.OK, 0, 0, 0);
        decided.answersOwnVersion();
        return true;
    }

    boolean decideClosing(Request asked) {
        final SessionTable sessions = decided.replica().sessions(asked.sessionId());
        final long[] ids = unused;
        if (ids != null) {
            return endUnused(sessions, ids);
        }
        awaitsSession = sessions.isEnding(asked.sessionId());
        if (awaitsSession || !sessions.isOpen(asked.sessionId())) {
            return !awaitsSession && decided.answer(Status.OK, 0, 0, 0);
        }
        decided.draft(EntryType.SESSION_CLOSE).request(asked.sessionId(), 0, 0);
        decided.willAnswer(Status.OK, 0, 0, 0);
        return true;
    }

    /**
     * One record for all of them: ending sessions takes far less space than opening them. The response's version is
     * their number.
     */
    private boolean endUnused(SessionTable sessions, long[] ids) {
        hold.leave();
        final int count = hold.endUnused(sessions, ids, unusedCount, unusedTicks);
        if (count == 0) {
            return decided.answer(Status.OK, 0, 0, 0);
        }
        final int length = (count - 1) * Long.BYTES;
        if (closings.length < length) {
            closings = new byte[length];
        }
        final ByteBuffer others = ByteBuffer.wrap(closings).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 1; i < count; i++) {
            others.putLong(hold.ending(i));
        }
        decided.draft(EntryType.SESSION_CLOSE).value(closings, 0, length).request(hold.ending(0), 0, 0);
        decided.willAnswer(Status.OK, ResultBits.REMOVED, count, 0);
        return true;
    }

    /** Whether the duplicate check completed the request, or must be repeated. */
    boolean isKnown(Request asked) {
        final SessionTable sessions = decided.replica().sessions(asked.sessionId());
        answeredBefore = null;
        awaitsSession = false;
        hold.leave(); // repeated after an expiry: the session is looked up again
        while (true) {
            switch (sessions.enter(asked.sessionId(), asked.sequence())) {
                case NEW -> {
                    hold.enter(sessions, asked.sessionId());
                    return false;
                }
                case NO_SESSION -> {
                    decided.answer(Status.SESSION_EXPIRED, 0, 0, 0);
                    return true;
                }
                case ANSWERED -> {
                    decided.answer(Status.BAD_REQUEST, 0, 0, 0);
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
                        continue; // forgotten meanwhile
                    }
                    if (completion.isApplied()) {
                        replay(completion, asked);
                        return true;
                    }
                    // A retry whose first response was lost is decided again, for the value that it may request; it
                    // must not write.
                    answeredBefore = completion;
                    return false;
                }
            }
        }
    }

    /** Whether an earlier attempt got a response without an entry: this one gets the same. */
    boolean replaysAnswer(Request asked) {
        final Completion before = answeredBefore;
        if (before != null) {
            replay(before, asked);
        }
        return before != null;
    }

    private void replay(Completion completion, Request asked) {
        completedAnswer.replay(decided.replica(), completion, asked);
        if (!decided.mayAnswer()) {
            decided.refuseNotPrimary();
        }
    }

    /** The entry is visible. True if it only freed a slot: the request must be decided now. */
    boolean hasReplaced() {
        if (replacing) {
            replacing = false;
            hold.leave();
            return true;
        }
        if (hold.hasSlot()) {
            final Request asked = decided.asked();
            hold.opened(asked.sessionId(), asked.connection());
        }
        return false;
    }
}
