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
 * Executor of requests over a session that may lose replies: assigns request ids to mutations, opens their session at
 * the shard first, and repeats attempts with the same id ({@link RequestAttempts}).
 *
 * <p>Guarantees: a mutation takes effect at most once. {@link Status#OUTCOME_UNKNOWN} leaves open whether it did; every
 * other status is the mutation's own, or states that it had no effect. Thread-safe; works on the calling thread and
 * allocates nothing unless an attempt is lost.
 */
public final class ExactlyOnceExecutor implements AutoCloseable {
    private static final int PROBE_DEPTH = 6;
    private static final int MAX_GROUP = 128;

    private final Session session;
    private final Clock clock;
    private final long deadlineNs;
    private final ClientSessionPool pool;

    /**
     * @param deadlineNs longest duration of an operation, from its submission
     * @param sessionCount limit of mutations in flight
     * @param counters first sequences
     */
    public ExactlyOnceExecutor(
            Session session,
            Clock clock,
            RandomSource random,
            long deadlineNs,
            int sessionCount,
            CounterStarts counters) {
        this.session = session;
        this.clock = clock;
        this.deadlineNs = deadlineNs;
        this.pool = new ClientSessionPool(sessionCount, clock, random, counters);
    }

    /** Executes a request on the calling thread. */
    public void execute(Request request) {
        final long nowNs = clock.nanoTime();
        final long untilNs = nowNs + deadlineNs;
        if (!request.operation().isMutation()) {
            final long term = session.configuration().term();
            session.call(request, nowNs, untilNs);
            repeatRead(request, untilNs, term);
            return;
        }
        // Keeps enough stack to release the session after any error below.
        StackProbe.require(PROBE_DEPTH);
        int index = pool.tryAcquire();
        long beginNs = nowNs;
        if (index < 0) {
            index = pool.acquire(untilNs);
            beginNs = clock.nanoTime();
        }
        if (index < 0) {
            request.fail(Status.UNREACHABLE);
            return;
        }
        try {
            final ClientSession clientSession = pool.at(index);
            final RequestAttempts attempts = clientSession.attempts(session, pool, clock);
            send(attempts.beginMutation(request, clientSession, untilNs), attempts, beginNs, untilNs);
        } finally {
            pool.release(index);
        }
    }

    /** Repeats a read whose first attempt used the configuration with that term. */
    private void repeatRead(Request request, long untilNs, long term) {
        if (RetrySchedule.isWorthRepeating(request)) {
            final RequestAttempts attempts = new RequestAttempts(session, pool, clock);
            final Request next = attempts.beginReadAgain(request, untilNs, term);
            if (next != null) {
                RetrySchedule.pause(attempts.pauseNs());
                send(next, attempts, clock.nanoTime(), untilNs);
            }
        }
    }

    private void send(Request first, RequestAttempts attempts, long nowNs, long untilNs) {
        Request next = first;
        long beginNs = nowNs;
        // Ends: no attempt starts after the deadline.
        while (next != null) {
            session.call(next, beginNs, untilNs);
            next = attempts.answered();
            if (next != null) {
                RetrySchedule.pause(attempts.pauseNs());
                beginNs = clock.nanoTime();
            }
        }
    }

    /** As {@link #execute}, for a caller that sends the attempts itself. Waits for a session if all are in use. */
    public RequestAttempts attempts(Request request) {
        return attempts(request, clock.nanoTime() + deadlineNs);
    }

    /** As {@link #attempts(Request)}, with a deadline. */
    RequestAttempts attempts(Request request, long untilNs) {
        return request.operation().isMutation() ? mutation(request, pool.acquire(), untilNs) : read(request, untilNs);
    }

    private RequestAttempts read(Request request, long untilNs) {
        final RequestAttempts attempts = new RequestAttempts(session, pool, clock);
        final Request unused = attempts.beginRead(request, untilNs);
        return attempts;
    }

    /** The session is released when the mutation ends, or fails to start. */
    private RequestAttempts mutation(Request request, int index, long untilNs) {
        RequestAttempts begun = null;
        try {
            final RequestAttempts attempts = new RequestAttempts(session, pool, clock);
            final Request unused = attempts.beginMutation(request, index, untilNs);
            begun = attempts;
            return begun;
        } finally {
            if (begun == null) {
                pool.release(index);
            }
        }
    }

    /**
     * As {@link #execute} for each request, concurrently: each is an independent, unordered operation. After the first
     * missing response of a server, its remaining requests wait until those of the other servers are complete.
     *
     * @param requests distinct requests; none may read from arrays that another one writes
     */
    public void executeAll(List<Request> requests) {
        final long untilNs = clock.nanoTime() + deadlineNs;
        final Configuration configuration = session.configuration();
        final BitSet unresponsive = new BitSet();
        final List<Request> left = new ArrayList<>();
        try (RequestGroup held = new RequestGroup()) {
            for (int next = 0; next < requests.size() || !held.isEmpty(); ) {
                try (RequestGroup group = new RequestGroup()) {
                    // At most as many as sessions are free: to hold some and wait for others may deadlock.
                    while (next < requests.size() && group.size() < MAX_GROUP) {
                        final Request each = requests.get(next);
                        if (unresponsive.get(serverOf(each, configuration))) {
                            left.add(each);
                        } else if (!begin(each, group, group.isEmpty() && held.isEmpty(), untilNs)) {
                            break;
                        }
                        next++;
                    }
                    if (group.isEmpty()) {
                        held.finish(untilNs);
                    } else {
                        group.finishAnswered(untilNs, configuration, unresponsive, held);
                    }
                }
            }
        }
        executeLeft(left, untilNs);
    }

    private void executeLeft(List<Request> left, long untilNs) {
        int next = 0;
        while (next < left.size()) {
            try (RequestGroup group = new RequestGroup()) {
                while (next < left.size()
                        && group.size() < MAX_GROUP
                        && begin(left.get(next), group, group.isEmpty(), untilNs)) {
                    next++;
                }
                group.finish(untilNs);
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
     * Adds one request to the group.
     *
     * @param waits for a session, because the caller holds none
     * @return false if no session is free now
     */
    private boolean begin(Request request, RequestGroup group, boolean waits, long untilNs) {
        if (!request.operation().isMutation()) {
            group.add(read(request, untilNs));
            return true;
        }
        int index = pool.tryAcquire();
        if (index < 0 && waits) {
            index = pool.acquire(untilNs);
        }
        if (index >= 0) {
            group.add(mutation(request, index, untilNs));
        } else if (waits) {
            request.fail(Status.UNREACHABLE);
        }
        return waits || index >= 0;
    }

    /** Requests that run to their outcomes together. Closing it after an error releases their sessions. */
    private final class RequestGroup implements AutoCloseable {
        private final List<RequestAttempts> inFlight = new ArrayList<>();
        private final List<Request> sending = new ArrayList<>();

        int size() {
            return inFlight.size();
        }

        boolean isEmpty() {
            return inFlight.isEmpty();
        }

        void add(RequestAttempts attempts) {
            inFlight.add(attempts);
        }

        /** Runs all requests to their outcomes. */
        void finish(long untilNs) {
            // Ends: each leaves at its deadline.
            while (!inFlight.isEmpty()) {
                callAll(untilNs);
                long pauseNs = 0;
                int left = 0;
                for (RequestAttempts each : inFlight) {
                    if (each.answered() != null) {
                        pauseNs = Math.max(pauseNs, each.pauseNs());
                        inFlight.set(left++, each);
                    }
                }
                inFlight.subList(left, inFlight.size()).clear();
                if (left > 0) {
                    RetrySchedule.pause(pauseNs);
                }
            }
        }

        /** Runs all requests to their outcomes, except those that have to wait, which move to {@code held}. */
        void finishAnswered(long untilNs, Configuration configuration, BitSet unresponsive, RequestGroup held) {
            while (!inFlight.isEmpty()) {
                callAll(untilNs);
                int left = 0;
                for (int i = 0; i < inFlight.size(); i++) {
                    final Status status = sending.get(i).status();
                    final int server = serverOf(sending.get(i), configuration);
                    if (status == Status.NO_REPLY || status.isForAnother()) {
                        unresponsive.set(server);
                    }
                    final RequestAttempts each = inFlight.get(i);
                    if (each.answered() == null) {
                        continue;
                    }
                    if (unresponsive.get(server) || each.pauseNs() > 0) {
                        held.add(each);
                    } else {
                        inFlight.set(left++, each);
                    }
                }
                inFlight.subList(left, inFlight.size()).clear();
            }
        }

        private void callAll(long untilNs) {
            sending.clear();
            inFlight.forEach(each -> sending.add(requireNonNull(each.next())));
            session.callAll(sending, untilNs);
        }

        @Override
        public void close() {
            inFlight.forEach(RequestAttempts::abandon);
        }
    }

    /**
     * Closes the client sessions at the shards where they are or may be open; the owner closes the {@link Session}. At
     * an unreachable shard they stay open until the lease expires.
     */
    @Override
    public void close() {
        final List<Request> closings = new ArrayList<>();
        pool.forEach(clientSession -> {
            closeEverywhere(clientSession.sessionId(), clientSession.reachedShards(), closings);
            for (AbandonedSession abandoned : clientSession.abandoned()) {
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
