package org.rowankv.driver.session;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.StackProbe;
import org.rowankv.topology.Configuration;

/**
 * Carries a request to its outcome: gives mutations a request id, opens the session at the shard first, and repeats attempts with the
 * same id ({@link RequestAttempts}). For a session that may lose replies; over one that loses none a request is one attempt, without an id.
 *
 * <p>Guarantees: a mutation takes effect at most once. The answer {@link Status#OUTCOME_UNKNOWN} leaves open whether it
 * did; every other answer is the mutation's own, or says that it had no effect. Thread-safe; the calling thread does all the work and allocates nothing when no attempt is lost.
 */
public final class ExactlyOnceExecutor implements AutoCloseable {
    private static final int PROBE_DEPTH = 6;
    private static final int MAX_TOGETHER = 128;

    private final Session session;
    private final Clock clock;
    private final long deadlineNs;
    private final ClientSessionPool lanes;

    /**
     * @param deadlineNs how long an operation takes at most, from its submission
     * @param laneCount how many mutations can be in flight at once
     * @param counters where the first sequences begin
     */
    public ExactlyOnceExecutor(
            Session session, Clock clock, RandomSource random, long deadlineNs, int laneCount, CounterStarts counters) {
        this.session = session;
        this.clock = clock;
        this.deadlineNs = deadlineNs;
        this.lanes = new ClientSessionPool(laneCount, clock, random, counters);
    }

    /** Carries the request to an outcome, on the calling thread. */
    public void execute(Request request) {
        final long nowNs = clock.nanoTime();
        final long untilNs = nowNs + deadlineNs;
        if (!request.operation().isMutation()) {
            final long term = session.configuration().term();
            session.call(request, nowNs, untilNs);
            repeatRead(request, nowNs, untilNs, term);
            return;
        }
        // Whatever fails deeper down, the lane can be given back.
        StackProbe.require(PROBE_DEPTH);
        int index = lanes.borrowAtOnce();
        long beginNs = nowNs;
        if (index < 0) {
            index = lanes.borrow(untilNs);
            beginNs = clock.nanoTime();
        }
        if (index < 0) {
            request.fail(Status.UNREACHABLE);
            return;
        }
        try {
            final ClientSession lane = lanes.lane(index);
            final RequestAttempts attempts = lane.attempts(session, lanes, clock);
            send(attempts.beginMutation(request, lane, beginNs, untilNs), attempts, beginNs, untilNs);
        } finally {
            lanes.giveBack(index);
        }
    }

    /** Goes on with a read whose first attempt went by a configuration with that term. */
    private void repeatRead(Request request, long beganNs, long untilNs, long term) {
        final Status status = request.status();
        if (status == Status.NO_REPLY || status.isForAnother()) {
            final RequestAttempts attempts = new RequestAttempts(session, lanes, clock);
            final Request next = attempts.beginReadAgain(request, beganNs, untilNs, term);
            if (next != null) {
                RetrySchedule.pause(attempts.pauseNs());
                send(next, attempts, clock.nanoTime(), untilNs);
            }
        }
    }

    private void send(Request first, RequestAttempts attempts, long nowNs, long untilNs) {
        Request next = first;
        long beginNs = nowNs;
        // Ends: there is no next attempt behind the deadline.
        while (next != null) {
            session.call(next, beginNs, untilNs);
            next = attempts.answered();
            if (next != null) {
                RetrySchedule.pause(attempts.pauseNs());
                beginNs = clock.nanoTime();
            }
        }
    }

    /** As {@link #execute}, for a caller that drives the attempts itself. Waits for a lane if all are in use. */
    public RequestAttempts attempts(Request request) {
        return attempts(request, clock.nanoTime() + deadlineNs);
    }

    /** As {@link #attempts(Request)}, for an operation that ends at a time. */
    RequestAttempts attempts(Request request, long untilNs) {
        return request.operation().isMutation() ? mutation(request, lanes.borrow(), untilNs) : read(request, untilNs);
    }

    private RequestAttempts read(Request request, long untilNs) {
        final RequestAttempts attempts = new RequestAttempts(session, lanes, clock);
        final Request unused = attempts.beginRead(request, clock.nanoTime(), untilNs);
        return attempts;
    }

    /** The lane goes back when the mutation is over, or could not begin. */
    private RequestAttempts mutation(Request request, int lane, long untilNs) {
        RequestAttempts begun = null;
        try {
            final RequestAttempts attempts = new RequestAttempts(session, lanes, clock);
            final Request unused = attempts.beginMutation(request, lane, clock.nanoTime(), untilNs);
            begun = attempts;
            return begun;
        } finally {
            if (begun == null) {
                lanes.giveBack(lane);
            }
        }
    }

    /**
     * As {@link #execute} for each of them, at the same time: each is an operation of its own, in no order. A server that does not
     * answer delays its own: after its first silence the others' are carried to their outcomes before what is left of it.
     *
     * @param requests different ones; what one writes another must not read from
     */
    public void executeAll(List<Request> requests) {
        final long untilNs = clock.nanoTime() + deadlineNs;
        final Configuration configuration = session.configuration();
        final BitSet silent = new BitSet();
        final List<Request> left = new ArrayList<>();
        try (RoleTerm held = new RoleTerm()) {
            for (int next = 0; next < requests.size() || !held.isEmpty(); ) {
                try (RoleTerm round = new RoleTerm()) {
                    // No more than there are lanes left now: to hold some and wait for others may be a deadlock.
                    while (next < requests.size() && round.size() < MAX_TOGETHER) {
                        final Request each = requests.get(next);
                        if (silent.get(serverOf(each, configuration))) {
                            left.add(each);
                        } else if (!begin(each, round, round.isEmpty() && held.isEmpty(), untilNs)) {
                            break;
                        }
                        next++;
                    }
                    if (round.isEmpty()) {
                        held.finish(untilNs);
                    } else {
                        round.finishAnswered(untilNs, configuration, silent, held);
                    }
                }
            }
        }
        executeLeft(left, untilNs);
    }

    private void executeLeft(List<Request> left, long untilNs) {
        int next = 0;
        while (next < left.size()) {
            try (RoleTerm round = new RoleTerm()) {
                while (next < left.size()
                        && round.size() < MAX_TOGETHER
                        && begin(left.get(next), round, round.isEmpty(), untilNs)) {
                    next++;
                }
                round.finish(untilNs);
            }
        }
    }

    /** The primary of the request's shard. */
    static int serverOf(Request request, Configuration configuration) {
        final int shard = request.shard();
        return shard >= 0 && shard < configuration.shardCount()
                ? configuration.shard(shard).primary()
                : 0; // the session refuses it
    }

    /**
     * Begins one more of the round.
     *
     * @param waits for a lane, since the caller holds none
     * @return false if there is no lane for it now
     */
    private boolean begin(Request request, RoleTerm round, boolean waits, long untilNs) {
        if (!request.operation().isMutation()) {
            round.add(read(request, untilNs));
            return true;
        }
        int index = lanes.borrowAtOnce();
        if (index < 0 && waits) {
            index = lanes.borrow(untilNs);
        }
        if (index >= 0) {
            round.add(mutation(request, index, untilNs));
        } else if (waits) {
            request.fail(Status.UNREACHABLE);
        }
        return waits || index >= 0;
    }

    /** Requests that are carried to their outcomes together. Closed after an error, it lets go of what they hold. */
    private final class RoleTerm implements AutoCloseable {
        private final List<RequestAttempts> underWay = new ArrayList<>();
        private final List<Request> sending = new ArrayList<>();

        int size() {
            return underWay.size();
        }

        boolean isEmpty() {
            return underWay.isEmpty();
        }

        void add(RequestAttempts attempts) {
            underWay.add(attempts);
        }

        /** Carries all to their outcomes. */
        void finish(long untilNs) {
            // Ends: each leaves at its deadline.
            while (!underWay.isEmpty()) {
                callAll(untilNs);
                long pauseNs = 0;
                int left = 0;
                for (RequestAttempts each : underWay) {
                    if (each.answered() != null) {
                        pauseNs = Math.max(pauseNs, each.pauseNs());
                        underWay.set(left++, each);
                    }
                }
                underWay.subList(left, underWay.size()).clear();
                if (left > 0) {
                    RetrySchedule.pause(pauseNs);
                }
            }
        }

        /** Carries all to their outcomes but those whose server does not answer, or not now: those are held. */
        void finishAnswered(long untilNs, Configuration configuration, BitSet silent, RoleTerm held) {
            while (!underWay.isEmpty()) {
                callAll(untilNs);
                int left = 0;
                for (int i = 0; i < underWay.size(); i++) {
                    final Status status = sending.get(i).status();
                    final int server = serverOf(sending.get(i), configuration);
                    if (status == Status.NO_REPLY || status.isForAnother()) {
                        silent.set(server);
                    }
                    final RequestAttempts each = underWay.get(i);
                    if (each.answered() == null) {
                        continue;
                    }
                    if (silent.get(server)) {
                        held.add(each);
                    } else {
                        underWay.set(left++, each);
                    }
                }
                underWay.subList(left, underWay.size()).clear();
            }
        }

        private void callAll(long untilNs) {
            sending.clear();
            underWay.forEach(each -> sending.add(requireNonNull(each.next())));
            session.callAll(sending, untilNs);
        }

        @Override
        public void close() {
            underWay.forEach(RequestAttempts::abandon);
        }
    }

    /**
     * Closes the sessions at the shards where they were opened, or may have been; the session itself stays its owner's. What
     * cannot be reached now stays open there, until its lease is over.
     */
    @Override
    public void close() {
        final List<Request> closings = new ArrayList<>();
        lanes.forEach(lane -> {
            closeEverywhere(lane.sessionId(), lane.reachedShards(), closings);
            for (SessionCloser abandoned : lane.abandoned()) {
                closeEverywhere(abandoned.sessionId(), abandoned.openShards(), closings);
            }
        });
        final long term = session.configuration().term();
        session.callAll(closings);
        closings.removeIf(each -> !each.status().isForAnother());
        if (!closings.isEmpty() && session.seek(term)) {
            session.callAll(closings);
        }
    }

    private static void closeEverywhere(long sessionId, BitSet openShards, List<Request> closings) {
        for (int shard = openShards.nextSetBit(0); shard >= 0; shard = openShards.nextSetBit(shard + 1)) {
            closings.add(new Request().closeSession(shard, sessionId));
        }
    }
}
