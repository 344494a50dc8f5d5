package org.rowankv.driver.session;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
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
    private static final int PROBE_DEPTH = 6;
    private static final int MAX_TOGETHER = 128;

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
        this.lanes = new Lanes(laneCount, clock, random);
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
        // Ends: there is no next attempt behind the deadline.
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

    /**
     * As {@link #execute} for each of them, at the same time: each is an operation of its own, in no order.
     *
     * @param requests different ones; what one writes another must not read from
     */
    public void executeAll(List<Request> requests) {
        if (!identifies) {
            session.callAll(requests);
            requests.forEach(this::finishUnidentified);
            return;
        }
        int next = 0;
        while (next < requests.size()) {
            final Round round = new Round();
            // No more than there are lanes left now: who holds some and waits for others may wait for ever.
            while (next < requests.size() && round.size() < MAX_TOGETHER && begin(requests.get(next), round)) {
                next++;
            }
            round.finish();
        }
    }

    private void finishUnidentified(Request request) {
        if (request.operation().isMutation()) {
            unknownIfLost(request);
        } else if (request.status() == Status.NO_REPLY) {
            execute(request);
        }
    }

    private boolean begin(Request request, Round round) {
        if (!request.operation().isMutation()) {
            final Attempts attempts = new Attempts(lanes, clock, deadlineNs);
            round.add(new SteppedRequest(attempts, attempts.beginRead(request), () -> {}));
            return true;
        }
        final int index = round.size() == 0 ? lanes.borrow() : lanes.tryBorrow();
        if (index < 0) {
            return false;
        }
        final Attempts attempts = new Attempts(lanes, clock, deadlineNs);
        round.add(new SteppedRequest(
                attempts, attempts.beginMutation(request, lanes.lane(index)), () -> lanes.giveBack(index)));
        return true;
    }

    /** Requests that are carried to their outcomes together. */
    private final class Round {
        private final List<SteppedRequest> steppers = new ArrayList<>();
        private final List<Request> attempts = new ArrayList<>();

        int size() {
            return steppers.size();
        }

        void add(SteppedRequest stepper) {
            steppers.add(stepper);
            attempts.add(stepper.first());
        }

        void finish() {
            // Ends: as for one request, each leaves at its deadline.
            while (!attempts.isEmpty()) {
                session.callAll(attempts);
                int left = 0;
                for (int i = 0; i < attempts.size(); i++) {
                    final Request again = steppers.get(i).answered();
                    if (again == null) {
                        continue;
                    }
                    steppers.set(left, steppers.get(i));
                    attempts.set(left++, again);
                }
                if (left == attempts.size()) {
                    Thread.yield();
                }
                steppers.subList(left, steppers.size()).clear();
                attempts.subList(left, attempts.size()).clear();
            }
        }
    }

    /**
     * Closes the sessions at the shards where they were opened, or may have been; the session itself stays its owner's. What
     * cannot be reached now stays open there.
     */
    @Override
    public void close() {
        final List<Request> closings = new ArrayList<>();
        lanes.forEach(lane -> {
            closeEverywhere(lane.sessionId(), lane.reachedShards(), closings);
            for (AbandonedSession abandoned : lane.abandoned()) {
                closeEverywhere(abandoned.sessionId(), abandoned.openShards(), closings);
            }
        });
        session.callAll(closings);
    }

    private static void closeEverywhere(long sessionId, BitSet openShards, List<Request> closings) {
        for (int shard = openShards.nextSetBit(0); shard >= 0; shard = openShards.nextSetBit(shard + 1)) {
            closings.add(new Request().closeSession(shard, sessionId));
        }
    }
}
