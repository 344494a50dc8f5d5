package org.rowankv.driver.session;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;

/**
 * The attempts by which one request comes to its outcome, as a state machine: it says what to hand to the session next and after which
 * pause, and its driver says when that was answered. So it is the same for callers that wait, for bulks and for callers that do not
 * wait, which differ in how they wait for an answer and for the end of a pause. Closes at the shard what its lane has given up, opens
 * the session there, and repeats attempts by its {@link RetrySchedule}, with the same id. Owned by one caller, one request at a time.
 */
public final class RequestAttempts {
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

    private static final int NO_LANE = -1;

    private final ClientSessionPool lanes;
    private final RetrySchedule schedule;

    private State state = State.IDLE;
    private @Nullable Request request;
    private @Nullable ClientSession lane;
    /** Of the lane, if it goes back when the request has its outcome. */
    private int laneIndex = NO_LANE;
    /** What was handed out last: the request itself, or one for its session. */
    private @Nullable Request sent;

    private long pauseNs;
    private int rounds;
    private int refusedIds;

    RequestAttempts(Session session, ClientSessionPool lanes, Clock clock) {
        this.lanes = lanes;
        this.schedule = new RetrySchedule(session, clock);
    }

    /**
     * Begins what may be applied more than once and needs no id, as a read.
     *
     * @param untilNs when it ends
     */
    Request beginRead(Request newRequest, long nowNs, long untilNs) {
        schedule.begin(nowNs, untilNs);
        return read(newRequest);
    }

    /** As {@link #beginRead}, behind its first attempt: that one went by a configuration with this term. Returns what to send next. */
    @Nullable
    Request beginReadAgain(Request answeredRequest, long beganNs, long untilNs, long term) {
        schedule.beginBehindFirst(beganNs, untilNs, term);
        read(answeredRequest);
        return answered();
    }

    private Request read(Request newRequest) {
        request = newRequest;
        lane = null;
        state = State.READING;
        sent = newRequest;
        return newRequest;
    }

    /** As {@link #beginMutation(Request, Lane, long, long)}; the lane goes back when the mutation has its outcome. */
    Request beginMutation(Request newRequest, int borrowedIndex, long nowNs, long untilNs) {
        laneIndex = borrowedIndex;
        return beginMutation(newRequest, lanes.lane(borrowedIndex), nowNs, untilNs);
    }

    /** Begins a mutation; the lane is the caller's until the outcome is known. */
    Request beginMutation(Request newRequest, ClientSession borrowed, long nowNs, long untilNs) {
        schedule.begin(nowNs, untilNs);
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

    private Request nextRound(Request asked, ClientSession own) {
        rounds++;
        if (own.isOpenAt(asked.shard())) {
            return identified(asked, own);
        }
        refusedIds = 0;
        return opening(asked, own);
    }

    private Request opening(Request asked, ClientSession own) {
        own.openingAt(asked.shard());
        return handOut(
                State.OPENING, new Request().openSession(asked.shard(), own.sessionId(), lanes.asOf(asked.shard())));
    }

    private Request identified(Request asked, ClientSession own) {
        asked.identified(own.sessionId(), own.nextSequence(), 0);
        return handOut(State.MUTATING, asked);
    }

    private Request handOut(State newState, Request next) {
        state = newState;
        sent = next;
        schedule.beginRequest();
        return next;
    }

    /** What to hand to the session now; null: the request has its outcome. */
    public @Nullable Request next() {
        return sent;
    }

    /** How long to wait before that; 0: not at all. */
    public long pauseNs() {
        return pauseNs;
    }

    /** Whether an attempt of the request itself had no reply: it may have been applied. */
    boolean isReplyLost() {
        return schedule.isReplyLost() && sent == request;
    }

    /** What was handed out last has its answer; returns what to send next, or null: the request has its outcome. */
    public @Nullable Request answered() {
        final Request asked = request;
        final Request last = sent;
        if (asked == null || last == null) {
            throw new IllegalStateException("no request was begun");
        }
        // A closing is tried once: whatever comes of it, the mutation goes on.
        final long nextPauseNs = state == State.CLOSING ? RetrySchedule.NEVER : schedule.afterAnswer(last.status());
        pauseNs = Math.max(0, nextPauseNs);
        if (nextPauseNs != RetrySchedule.NEVER) {
            return last;
        }
        final ClientSession own = lane;
        final Request next = own == null
                ? readEnded(asked)
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
            abandon();
        }
        return next;
    }

    /** The lane becomes free, if it is not already: no attempt of the request is sent any more, as after an error. */
    public void abandon() {
        final int index = laneIndex;
        if (index != NO_LANE) {
            laneIndex = NO_LANE;
            lanes.giveBack(index);
        }
    }

    /** That a server did not answer says more than that the last attempt had no time left to leave. */
    private @Nullable Request readEnded(Request asked) {
        if (schedule.isReplyLost() && asked.status().isForAnother()) {
            asked.fail(Status.NO_REPLY);
        }
        return null;
    }

    private Request closed(Request asked, Request close, ClientSession own) {
        if (close.status() == Status.OK) {
            own.closedAbandoned(close.sessionId(), close.shard());
        }
        return nextRound(asked, own);
    }

    private @Nullable Request opened(Request asked, Request open, ClientSession own) {
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
            if (!schedule.isReplyLost() && open.status() != Status.NO_REPLY) {
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

    private @Nullable Request judge(Request asked, ClientSession own) {
        if (asked.status() == Status.NO_REPLY) {
            // Its sequence stays unanswered for ever, so this session must not be used again.
            lanes.renew(own);
            asked.answer(Status.OUTCOME_UNKNOWN, 0, 0, 0);
            return null;
        }
        if (!saysNothingOfOthers(asked.status())) {
            return null;
        }
        if (schedule.isReplyLost()) {
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
}
