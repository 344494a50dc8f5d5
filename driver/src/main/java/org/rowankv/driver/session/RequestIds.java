package org.rowankv.driver.session;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.StackProbe;

/**
 * Carries a request to its outcome: gives mutations a request id, opens the session at the shard first, and repeats an
 * attempt whose reply was lost with the same id until the deadline. The only place where anything is retried. Over a
 * session that loses no reply nothing of this is needed: a mutation is then one attempt, without an id.
 *
 * <p>Guarantees: a mutation takes effect at most once; an answer other than {@link Status#OUTCOME_UNKNOWN} is the
 * mutation's own. Thread-safe; the calling thread does all the work and allocates nothing when no attempt is lost.
 */
public final class RequestIds implements AutoCloseable {
    private static final int PROBE_DEPTH = 4;

    private final Session session;
    private final Clock clock;
    private final long deadlineNs;
    private final Lanes lanes;
    /** Only what may have to be sent twice needs a name. */
    private final boolean identifies;

    /**
     * @param deadlineNs how long an operation is retried before the answer is OUTCOME_UNKNOWN
     * @param laneCount how many mutations can be in flight at once
     */
    public RequestIds(Session session, Clock clock, RandomSource random, long deadlineNs, int laneCount) {
        this.session = session;
        this.identifies = session.mayLoseReplies();
        this.clock = clock;
        this.deadlineNs = deadlineNs;
        this.lanes = new Lanes(laneCount, random);
    }

    /** Carries the request to an outcome, on the calling thread. */
    public void execute(Request request) {
        if (!request.operation().isMutation()) {
            session.call(request);
            if (request.status() == Status.NO_REPLY) {
                final Attempts attempts = new Attempts(lanes, clock, deadlineNs);
                attempts.beginRead(request);
                send(attempts.answered(), attempts);
            }
            return;
        }
        if (!identifies) {
            session.call(request);
            unknownIfLost(request);
            return;
        }
        // Whatever fails deeper down, the lane can be given back.
        StackProbe.require(PROBE_DEPTH);
        final int index = lanes.borrow();
        try {
            final Lane lane = lanes.lane(index);
            final Attempts attempts = lane.attempts(lanes, clock, deadlineNs);
            send(attempts.beginMutation(request, lane), attempts);
        } finally {
            lanes.giveBack(index);
        }
    }

    /** Without an id nothing may be sent again, so a reply that was lost in spite of the promise stays lost. */
    private static void unknownIfLost(Request request) {
        if (request.status() == Status.NO_REPLY) {
            request.answer(Status.OUTCOME_UNKNOWN, 0, 0, 0);
        }
    }

    private void send(@Nullable Request first, Attempts attempts) {
        for (Request next = first; next != null; next = attempts.answered()) {
            if (attempts.isRepeated()) {
                Thread.yield();
            }
            session.call(next);
        }
    }

    /** As {@link #execute}, for a caller that sends the attempts itself. */
    public SteppedRequest stepped(Request request) {
        final Attempts attempts = new Attempts(lanes, clock, deadlineNs);
        if (!request.operation().isMutation()) {
            return new SteppedRequest(attempts, attempts.beginRead(request), () -> {});
        }
        final int index = lanes.borrow();
        return new SteppedRequest(
                attempts, attempts.beginMutation(request, lanes.lane(index)), () -> lanes.giveBack(index));
    }

    /** Closes the sessions at the shards where they were opened, or may have been; the session itself stays its owner's. */
    @Override
    public void close() {
        for (int i = 0; i < lanes.count(); i++) {
            final Lane lane = lanes.lane(i);
            closeEverywhere(lane.sessionId(), lane.reachedShards());
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
