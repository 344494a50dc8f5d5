package org.rowankv.driver.session;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;

/**
 * State machine over the attempts of one request: provides the next request to send and the pause before it, and
 * consumes each response. Blocking, bulk and asynchronous callers share it; they differ only in how they wait. It
 * closes abandoned sessions at the shard, opens the session there, and repeats attempts by its {@link RetrySchedule}
 * under the same id. Owned by one caller, one request at a time.
 */
public final class RequestAttempts {
    private static final int MAX_REFUSED_IDS = 64;
    /** Limit of sessions that a mutation opens when each ends before its first attempt arrives. */
    private static final int MAX_OPENINGS = 8;

    private enum State {
        IDLE,
        READING,
        /** Closing an abandoned session; the mutation continues whatever the result. */
        CLOSING,
        /** Opening the session at the shard. */
        OPENING,
        MUTATING
    }

    private static final int NO_SESSION = -1;

    private final ClientSessionPool pool;
    private final RetrySchedule schedule;

    private State state = State.IDLE;
    private @Nullable Request request;
    private @Nullable ClientSession clientSession;
    /** Of the session, if it is released when the request has its outcome. */
    private int sessionIndex = NO_SESSION;
    /** The request sent last: the caller's, or one for its session. */
    private @Nullable Request sent;

    private long pauseNs;
    private int openings;
    private int refusedIds;

    RequestAttempts(Session session, ClientSessionPool pool, Clock clock) {
        this.pool = pool;
        this.schedule = new RetrySchedule(session, clock);
    }

    /**
     * Begins a request that may be applied more than once and needs no id, such as a read.
     *
     * @param untilNs its deadline
     */
    Request beginRead(Request newRequest, long untilNs) {
        schedule.begin(untilNs);
        return read(newRequest);
    }

    /**
     * As {@link #beginRead}, after a first attempt under the configuration with this term. Returns what to send next.
     */
    @Nullable
    Request beginReadAgain(Request answeredRequest, long untilNs, long term) {
        schedule.beginBehindFirst(untilNs, term);
        read(answeredRequest);
        return answered();
    }

    private Request read(Request newRequest) {
        request = newRequest;
        clientSession = null;
        state = State.READING;
        sent = newRequest;
        return newRequest;
    }

    /**
     * As {@link #beginMutation(Request, ClientSession, long)}; releases the session when the mutation has its
     * outcome.
     */
    Request beginMutation(Request newRequest, int acquiredIndex, long untilNs) {
        sessionIndex = acquiredIndex;
        return beginMutation(newRequest, pool.at(acquiredIndex), untilNs);
    }

    /** Begins a mutation; the caller holds the session until the outcome is known. */
    Request beginMutation(Request newRequest, ClientSession acquired, long untilNs) {
        schedule.begin(untilNs);
        request = newRequest;
        clientSession = acquired;
        openings = 0;
        if (acquired.isSpent() || acquired.isUnanswered()) {
            pool.renew(acquired); // the old one is closed below at this shard, and later at others
        }
        // Once per mutation: the shard was unresponsive when the outcome became unknown. A delayed copy of the old
        // request finds the session closed and is refused.
        final long abandoned = acquired.abandonedAt(newRequest.shard());
        return abandoned == 0
                ? sendMutation(newRequest, acquired)
                : send(State.CLOSING, new Request().closeSession(newRequest.shard(), abandoned));
    }

    private Request sendMutation(Request asked, ClientSession own) {
        openings++;
        if (own.isOpenAt(asked.shard())) {
            return identified(asked, own);
        }
        refusedIds = 0;
        return open(asked, own);
    }

    private Request open(Request asked, ClientSession own) {
        own.openingAt(asked.shard());
        return send(
                State.OPENING,
                new Request().openSession(asked.shard(), own.sessionId(), pool.newestVersion(asked.shard())));
    }

    private Request identified(Request asked, ClientSession own) {
        asked.identified(own.sessionId(), own.nextSequence(), 0);
        return send(State.MUTATING, asked);
    }

    private Request send(State newState, Request next) {
        state = newState;
        sent = next;
        schedule.beginRequest();
        return next;
    }

    /** The request to send now; null: the request has its outcome. */
    public @Nullable Request next() {
        return sent;
    }

    /** The pause before sending it; 0: none. */
    public long pauseNs() {
        return pauseNs;
    }

    /** Whether an attempt of the request itself had no reply: it may have been applied. */
    boolean isReplyLost() {
        return schedule.isReplyLost() && sent == request;
    }

    /** Consumes the response to the last request; returns what to send next, or null: the request has its outcome. */
    public @Nullable Request answered() {
        final Request asked = request;
        final Request last = sent;
        if (asked == null || last == null) {
            throw new IllegalStateException("no request was begun");
        }
        // A closing is tried once; the mutation continues whatever the result.
        final long nextPauseNs = state == State.CLOSING ? RetrySchedule.NEVER : schedule.afterAnswer(last);
        pauseNs = Math.max(0, nextPauseNs);
        final ClientSession own = clientSession;
        if (nextPauseNs != RetrySchedule.NEVER) {
            if (own != null && state == State.MUTATING && isRemembered(last.status())) {
                last.identified(own.sessionId(), own.nextSequence(), 0);
            }
            return last;
        }
        final Request next = own == null
                ? readEnded(asked)
                : switch (state) {
                    case CLOSING -> closed(asked, last, own);
                    case OPENING -> opened(asked, last, own);
                    default -> onMutationAnswer(asked, own);
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

    /** Releases the session, if it is held: no further attempt is sent, as after an error. */
    public void abandon() {
        final int index = sessionIndex;
        if (index != NO_SESSION) {
            sessionIndex = NO_SESSION;
            pool.release(index);
        }
    }

    /** NO_REPLY carries more information than a last attempt that was never sent. */
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
        return sendMutation(asked, own);
    }

    private @Nullable Request opened(Request asked, Request open, ClientSession own) {
        if (open.status() == Status.SESSION_EXPIRED && ++refusedIds < MAX_REFUSED_IDS) {
            own.refusedAt(asked.shard());
            pool.recordVersion(asked.shard(), open.version());
            // First with a newer version of the shard, since no mutation carried this id there yet. Then with another
            // id: a session of this one was closed, as when an earlier client drew its ids from the same seed.
            if (refusedIds > 1) {
                pool.renew(own);
            }
            return open(asked, own);
        }
        if (open.status() != Status.OK) {
            if (!schedule.isReplyLost() && open.status() != Status.NO_REPLY) {
                own.refusedAt(asked.shard());
            }
            // The mutation was not sent, so a lost reply to the opening leaves its outcome certain. The next mutation
            // reuses the id: new ids would open sessions faster than a busy shard responds.
            asked.answer(open.status() == Status.NO_REPLY ? Status.UNREACHABLE : open.status(), 0, 0, 0);
            return null;
        }
        own.openedAt(asked.shard());
        pool.recordVersion(asked.shard(), open.version());
        return identified(asked, own);
    }

    private @Nullable Request onMutationAnswer(Request asked, ClientSession own) {
        if (asked.status() == Status.NO_REPLY) {
            // Its sequence stays unanswered, so this session must not be used again.
            pool.renew(own);
            asked.answer(Status.OUTCOME_UNKNOWN, 0, 0, 0);
            return null;
        }
        if (!precedesDuplicateCheck(asked.status())) {
            return null;
        }
        if (schedule.isReplyLost()) {
            pool.renew(own);
            asked.answer(Status.OUTCOME_UNKNOWN, 0, 0, 0);
            return null;
        }
        if (asked.status() != Status.SESSION_EXPIRED) {
            return null;
        }
        pool.renew(own);
        // Retry only after SESSION_EXPIRED on a first attempt, which by rule applied nothing.
        return openings < MAX_OPENINGS ? sendMutation(asked, own) : null;
    }

    /** Whether the server answers the same to each further attempt with the sequence: nothing was applied. */
    private static boolean isRemembered(Status status) {
        return status == Status.CORRUPTED || status == Status.NO_VERSION;
    }

    /**
     * Whether the server responds before the duplicate check. Then the status covers this attempt, which applied
     * nothing; an earlier attempt with a lost reply may still have been applied.
     */
    private static boolean precedesDuplicateCheck(Status status) {
        return switch (status) {
            case SESSION_EXPIRED, UNKNOWN_CACHE, CLOSED, NOT_PRIMARY, STALE_TERM, UNREACHABLE, UNDER_REPLICATED -> true;
            default -> false;
        };
    }
}
