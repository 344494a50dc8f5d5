package org.rowankv.driver.session;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;

/**
 * The attempts by which one request comes to its outcome, as a state machine: it says what to hand to the session next,
 * and whoever sends says when that was answered. Closes at the shard what its lane has given up, opens the session there,
 * and repeats an attempt whose reply was lost with the same id until the deadline. Owned by one caller, one request at a
 * time.
 */
public final class Attempts {
    private static final int MAX_REFUSED_IDS = 64;
    /** A mutation whose session ended before its first attempt arrived opens another one, at most so often. */
    private static final int MAX_ROUNDS = 8;

    private enum State {
        IDLE,
        READING,
        /** A session that was given up earlier is being closed; whatever comes of it, the mutation goes on. */
        CLOSING,
        /** The lane's session is being opened at the shard. */
        OPENING,
        MUTATING
    }

    private final Lanes lanes;
    private final Clock clock;

    private State state = State.IDLE;
    private @Nullable Request request;
    private @Nullable Lane lane;
    /** What was handed out last: the request itself, or one for its session. */
    private @Nullable Request sent;

    private boolean repeated;
    private long deadlineNs;
    private int rounds;
    private int refusedIds;

    Attempts(Lanes lanes, Clock clock) {
        this.lanes = lanes;
        this.clock = clock;
    }

    /**
     * Begins a read, which needs no id.
     *
     * @param untilNs a lost attempt is repeated until then
     */
    Request beginRead(Request newRequest, long untilNs) {
        deadlineNs = untilNs;
        request = newRequest;
        lane = null;
        return handOut(State.READING, newRequest);
    }

    /** Begins a mutation; the lane is the caller's until the outcome is known. */
    Request beginMutation(Request newRequest, Lane borrowed, long untilNs) {
        deadlineNs = untilNs;
        request = newRequest;
        lane = borrowed;
        rounds = 0;
        if (borrowed.isSpent() || borrowed.isUnanswered()) {
            lanes.renew(borrowed); // the old session is closed, below, at this shard, and when it is met at others
        }
        // Once per visit: when its outcome became unknown the shard did not answer. A copy of the request that is
        // still on its way finds the session closed and is refused.
        final long abandoned = borrowed.abandonedAt(newRequest.shard());
        return abandoned == 0
                ? nextRound(newRequest, borrowed)
                : handOut(State.CLOSING, new Request().closeSession(newRequest.shard(), abandoned));
    }

    private Request nextRound(Request asked, Lane own) {
        rounds++;
        if (own.isOpenAt(asked.shard())) {
            return identified(asked, own);
        }
        refusedIds = 0;
        return opening(asked, own);
    }

    private Request opening(Request asked, Lane own) {
        own.openingAt(asked.shard());
        return handOut(
                State.OPENING, new Request().openSession(asked.shard(), own.sessionId(), lanes.asOf(asked.shard())));
    }

    private Request identified(Request asked, Lane own) {
        asked.identified(own.sessionId(), own.nextSequence(), 0);
        return handOut(State.MUTATING, asked);
    }

    private Request handOut(State newState, Request next) {
        state = newState;
        sent = next;
        repeated = false;
        return next;
    }

    /** What was handed out last has its answer; returns what to send next, or null: the request has its outcome. */
    public @Nullable Request answered() {
        final Request asked = request;
        final Request last = sent;
        if (asked == null || last == null) {
            throw new IllegalStateException("no request was begun");
        }
        if (last.status() == Status.NO_REPLY && state != State.CLOSING && isToBeRepeated()) {
            return last;
        }
        final Lane own = lane;
        final Request next = own == null
                ? null
                : switch (state) {
                    case CLOSING -> closed(asked, last, own);
                    case OPENING -> opened(asked, last, own);
                    default -> judge(asked, own);
                };
        if (next == null) {
            if (own != null) {
                own.answered();
            }
            state = State.IDLE;
            request = null;
            sent = null;
        }
        return next;
    }

    private boolean isToBeRepeated() {
        repeated = true;
        return clock.nanoTime() - deadlineNs < 0;
    }

    private Request closed(Request asked, Request close, Lane own) {
        if (close.status() == Status.OK) {
            own.closedAbandoned(close.sessionId(), close.shard());
        }
        return nextRound(asked, own);
    }

    private @Nullable Request opened(Request asked, Request open, Lane own) {
        if (open.status() == Status.SESSION_EXPIRED && ++refusedIds < MAX_REFUSED_IDS) {
            own.refusedAt(asked.shard());
            lanes.heard(asked.shard(), open.version());
            // Once with a newer version of the shard, since no mutation had this id there yet. Then with another id: a
            // session of this one was closed, as when an earlier client drew its ids from the same seed.
            if (refusedIds > 1) {
                lanes.renew(own);
            }
            return opening(asked, own);
        }
        if (open.status() != Status.OK) {
            if (!repeated && open.status() != Status.NO_REPLY) {
                own.refusedAt(asked.shard());
            }
            // The mutation itself was not sent, so a lost reply to its opening leaves no doubt about its outcome.
            // The next mutation offers the same id: another one each time would open sessions faster than a busy
            // shard answers.
            asked.answer(open.status() == Status.NO_REPLY ? Status.UNREACHABLE : open.status(), 0, 0, 0);
            return null;
        }
        own.openedAt(asked.shard());
        lanes.heard(asked.shard(), open.version());
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
        // Another round only after SESSION_EXPIRED on a first attempt, which by rule applied nothing.
        return rounds < MAX_ROUNDS ? nextRound(asked, own) : null;
    }

    /**
     * Whether an answer is given before the duplicate check: then it is true of its own attempt, which applied nothing, and
     * an earlier one whose reply was lost may have been applied all the same.
     */
    private static boolean saysNothingOfOthers(Status status) {
        return switch (status) {
            case SESSION_EXPIRED, UNKNOWN_CACHE, CLOSED, NOT_PRIMARY, STALE_TERM, UNREACHABLE -> true;
            default -> false;
        };
    }

    /** Whether the attempt that was handed out last is not the first with its id. */
    boolean isRepeated() {
        return repeated;
    }
}
