package org.rowankv.driver.session;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;

/**
 * The attempts by which one request comes to its outcome, as a state machine: it says what to hand to the session next,
 * and whoever sends says when that was answered. Opens the session at the shard first, and repeats an attempt whose reply
 * was lost with the same id until the deadline. Owned by one caller, one request at a time.
 */
public final class Attempts {
    private final Lanes lanes;
    private final Clock clock;
    private final long deadlineNs;

    private @Nullable Request request;
    /** The lane of a mutation; null for a read. */
    private @Nullable Lane lane;

    /** The session's opening, while that is what was handed out. */
    private @Nullable Request opening;

    private boolean repeated;
    private long deadline;
    private int rounds;

    Attempts(Lanes lanes, Clock clock, long deadlineNs) {
        this.lanes = lanes;
        this.clock = clock;
        this.deadlineNs = deadlineNs;
    }

    /** Begins a read, which needs no id. */
    Request beginRead(Request newRequest) {
        request = newRequest;
        lane = null;
        return handOut(newRequest, null);
    }

    /** Begins a mutation; the lane is the caller's until the outcome is known. */
    Request beginMutation(Request newRequest, Lane borrowed) {
        request = newRequest;
        lane = borrowed;
        rounds = 0;
        return nextRound(newRequest, borrowed);
    }

    private Request nextRound(Request asked, Lane own) {
        rounds++;
        if (!own.isOpenAt(asked.shard())) {
            final Request open = new Request().openSession(asked.shard(), own.sessionId());
            return handOut(open, open);
        }
        return identified(asked, own);
    }

    private Request identified(Request asked, Lane own) {
        asked.identified(own.sessionId(), own.nextSequence(), 0);
        return handOut(asked, null);
    }

    private Request handOut(Request next, @Nullable Request newOpening) {
        opening = newOpening;
        repeated = false;
        return next;
    }

    /** What was handed out last has its answer; returns what to send next, or null: the request has its outcome. */
    public @Nullable Request answered() {
        final Request asked = request;
        if (asked == null) {
            throw new IllegalStateException("no request was begun");
        }
        final Request open = opening;
        final Request sent = open == null ? asked : open;
        if (sent.status() == Status.NO_REPLY && isToBeRepeated()) {
            return sent;
        }
        final Request next = lane == null ? null : open == null ? judge(asked, lane) : opened(asked, open, lane);
        if (next == null) {
            request = null;
        }
        return next;
    }

    private boolean isToBeRepeated() {
        if (!repeated) {
            repeated = true;
            deadline = clock.nanoTime() + deadlineNs;
        }
        return clock.nanoTime() - deadline < 0;
    }

    private @Nullable Request opened(Request asked, Request open, Lane own) {
        if (open.status() != Status.OK) {
            // Nothing of the mutation itself was attempted, so no reply means no outcome that is not known.
            asked.answer(open.status(), 0, 0, 0);
            return null;
        }
        own.openedAt(asked.shard());
        return identified(asked, own);
    }

    private @Nullable Request judge(Request asked, Lane own) {
        if (asked.status() == Status.NO_REPLY) {
            // Its sequence stays unanswered for ever, so this session must not be used again.
            lanes.renew(own);
            asked.answer(Status.OUTCOME_UNKNOWN, 0, 0, 0);
            return null;
        }
        if (!saysNothingOfOthers(asked.status())) {
            return null;
        }
        if (repeated) {
            lanes.renew(own);
            asked.answer(Status.OUTCOME_UNKNOWN, 0, 0, 0);
            return null;
        }
        if (asked.status() != Status.SESSION_EXPIRED) {
            return null;
        }
        lanes.renew(own);
        // A second round only after SESSION_EXPIRED on a first attempt, which by rule applied nothing.
        return rounds < 2 ? nextRound(asked, own) : null;
    }

    /**
     * Whether an answer is given before the duplicate check: then it is true of its own attempt, which applied nothing, and
     * an earlier one whose reply was lost may have been applied all the same.
     */
    private static boolean saysNothingOfOthers(Status status) {
        return switch (status) {
            case SESSION_EXPIRED, CLOSED, NOT_PRIMARY, STALE_TERM -> true;
            default -> false;
        };
    }

    /** Whether the attempt that was handed out last is not the first with its id. */
    boolean isRepeated() {
        return repeated;
    }
}
