package org.rowankv.driver.session;

import java.util.BitSet;
import org.rowankv.driver.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.StackProbe;

/**
 * Carries a request to its outcome: gives mutations a request id, opens the session at the shard first, and repeats an
 * attempt whose reply was lost with the same id until the deadline. The only place where anything is retried.
 *
 * <p>Guarantees: a mutation takes effect at most once; an answer other than {@link Status#OUTCOME_UNKNOWN} is the
 * mutation's own. Thread-safe; the calling thread does all the work and allocates nothing when no attempt is lost.
 */
public final class RequestIds implements AutoCloseable {
    private static final int PROBE_DEPTH = 16;
    private static final int MAX_REFUSED_IDS = 64;

    private final Session session;
    private final Clock clock;
    private final long deadlineNs;
    private final Lanes lanes;

    /**
     * @param deadlineNs how long an operation is retried before the answer is OUTCOME_UNKNOWN
     * @param laneCount how many mutations can be in flight at once
     */
    public RequestIds(Session session, Clock clock, RandomSource random, long deadlineNs, int laneCount) {
        this.session = session;
        this.clock = clock;
        this.deadlineNs = deadlineNs;
        this.lanes = new Lanes(laneCount, random);
    }

    /** Carries the request to an outcome, on the calling thread. */
    public void execute(Request request) {
        if (!request.operation().isMutation()) {
            callUntilAnswered(request);
            return;
        }
        // Whatever fails deeper down, the lane can be given back.
        StackProbe.require(PROBE_DEPTH);
        final int index = lanes.borrow();
        try {
            mutate(request, lanes.lane(index));
        } finally {
            lanes.giveBack(index);
        }
    }

    private void mutate(Request request, Lane lane) {
        final int shard = request.shard();
        closeAbandoned(lane, shard);
        // A second round only after SESSION_EXPIRED on a first attempt, which by rule applied nothing.
        for (int round = 0; round < 2; round++) {
            if (!lane.isOpenAt(shard) && !openSession(lane, shard, request)) {
                return;
            }
            request.identified(lane.sessionId(), lane.nextSequence(), 0);
            final boolean repeated = callUntilAnswered(request);
            final Status status = request.status();
            if (status == Status.OUTCOME_UNKNOWN) {
                // Its sequence stays unanswered for ever, so this session must not be used again.
                lanes.renew(lane);
                return;
            }
            if (status != Status.SESSION_EXPIRED) {
                return;
            }
            lanes.renew(lane);
            if (repeated) {
                request.answer(Status.OUTCOME_UNKNOWN, 0, 0, 0);
                return;
            }
        }
    }

    /**
     * A session that was given up is closed when its lane next comes to the shard, once per visit: when the outcome became
     * unknown the shard did not answer. A copy of the request that is still on its way finds the session closed and is
     * refused.
     */
    private void closeAbandoned(Lane lane, int shard) {
        final long sessionId = lane.abandonedAt(shard);
        if (sessionId != 0) {
            final Request close = new Request().closeSession(shard, sessionId);
            session.call(close);
            if (close.status() == Status.OK) {
                lane.closedAbandoned(sessionId, shard);
            }
        }
    }

    private boolean openSession(Lane lane, int shard, Request request) {
        final Request open = new Request();
        callUntilAnswered(open.openSession(shard, lane.sessionId()));
        for (int refused = 1; open.status() == Status.SESSION_EXPIRED && refused < MAX_REFUSED_IDS; refused++) {
            // A session of that id was closed before, as when an earlier client drew its ids from the same seed.
            lanes.renew(lane);
            callUntilAnswered(open.openSession(shard, lane.sessionId()));
        }
        if (open.status() != Status.OK) {
            // Nothing of the mutation itself was attempted: an unknown outcome is only the opening's.
            request.answer(open.status() == Status.OUTCOME_UNKNOWN ? Status.NO_REPLY : open.status(), 0, 0, 0);
            return false;
        }
        lane.openedAt(shard);
        return true;
    }

    /** Whether more than one attempt was made. */
    private boolean callUntilAnswered(Request request) {
        session.call(request);
        if (request.status() != Status.NO_REPLY) {
            return false;
        }
        final long deadline = clock.nanoTime() + deadlineNs;
        do {
            if (clock.nanoTime() - deadline >= 0) {
                if (request.operation().isMutation()) {
                    request.answer(Status.OUTCOME_UNKNOWN, 0, 0, 0);
                }
                return true;
            }
            Thread.yield();
            session.call(request);
        } while (request.status() == Status.NO_REPLY);
        return true;
    }

    /** Closes the sessions at the shards where they were opened; the session itself stays its owner's. */
    @Override
    public void close() {
        for (int i = 0; i < lanes.count(); i++) {
            final Lane lane = lanes.lane(i);
            closeEverywhere(lane.sessionId(), lane.openShards());
            for (AbandonedSession abandoned : lane.abandoned()) {
                closeEverywhere(abandoned.sessionId(), abandoned.openShards());
            }
        }
    }

    private void closeEverywhere(long sessionId, BitSet openShards) {
        final Request request = new Request();
        for (int shard = openShards.nextSetBit(0); shard >= 0; shard = openShards.nextSetBit(shard + 1)) {
            session.call(request.closeSession(shard, sessionId));
        }
    }
}
