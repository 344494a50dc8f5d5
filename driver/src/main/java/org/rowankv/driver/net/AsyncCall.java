package org.rowankv.driver.net;

import static java.util.Objects.requireNonNull;

import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.session.StepTimer;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/**
 * One attempt of a request ({@link RequestCall}) that never blocks. It waits for a connection until the link's attempt
 * to establish one ends, and for a slot by a timer. The connection's {@link AsyncReader} awaits the response; the call
 * holds its slot until then.
 */
final class AsyncCall {
    /** Compares clock readings by their difference, which may overflow. */
    static final Comparator<AsyncCall> BY_DEADLINE = (one, other) -> Long.signum(one.deadlineNs - other.deadlineNs);

    /** Slots become free within this time. */
    private static final long SLOT_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(500);

    private enum Phase {
        /** Waits for a connection or a slot; several steps may be scheduled. */
        WAITING,
        /** A step has sent it, or is about to. */
        SENT,
        /** The caller owns the request again. */
        OVER
    }

    private final NetSession session;
    private final Route route;
    private final Request request;
    private final long beginNs;
    private final long deadlineNs;
    private final Runnable whenAnswered;
    private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.WAITING);
    /** Set by the sending step, before the request is queued. */
    private @Nullable NetConnection connection;

    private @Nullable InFlightRequest inFlight;
    /** The reader has processed the end. */
    private boolean ended;

    AsyncCall(NetSession session, Route route, Request request, long beginNs, long deadlineNs, Runnable whenAnswered) {
        this.session = session;
        this.route = route;
        this.request = request;
        this.beginNs = beginNs;
        this.deadlineNs = deadlineNs;
        this.whenAnswered = whenAnswered;
    }

    /** Sends the request if possible now. */
    void step() {
        if (phase.get() != Phase.WAITING) {
            return; // the caller may already reuse the request
        }
        boolean stepped = false;
        try {
            proceed();
            stepped = true;
        } finally {
            if (!stepped) {
                fail(Phase.WAITING, Status.UNREACHABLE);
            }
        }
    }

    private void proceed() {
        final long nowNs = session.clock().nanoTime();
        if (session.isClosed()) {
            fail(Phase.WAITING, Status.CLOSED);
            return;
        }
        if (deadlineNs - nowNs <= 0) {
            fail(Phase.WAITING, Status.UNREACHABLE);
            return;
        }
        final StepTimer timer = session.timer();
        final ServerLink link = route.primaryOf(request.shard());
        NetConnection present = link.presentOrConnect();
        if (present == null && link.isConnecting()) {
            timer.at(deadlineNs, this::step); // first: the call ends even if a later step fails
            if (link.whenConnected(() -> timer.at(session.clock().nanoTime(), this::step))) {
                return;
            }
            present = link.presentOrConnect(); // established meanwhile
        }
        final InFlightRequest slot = present == null ? null : present.tryAcquire();
        if (present == null) {
            fail(Phase.WAITING, Status.UNREACHABLE);
        } else if (slot == null) {
            timer.at(nowNs + Math.min(deadlineNs - nowNs, SLOT_PAUSE_NS), this::step);
        } else {
            send(present, slot);
        }
    }

    private void send(NetConnection present, InFlightRequest slot) {
        if (!phase.compareAndSet(Phase.WAITING, Phase.SENT)) {
            present.release(slot);
            return;
        }
        connection = present;
        inFlight = slot;
        boolean isQueued = false;
        boolean isFlushed = false;
        try {
            isQueued = RequestCall.send(request, present, slot, route.term(), this);
            if (isQueued) {
                present.flush();
            }
            isFlushed = true;
        } finally {
            if (!isFlushed) {
                try {
                    present.abandon(slot);
                } finally {
                    fail(Phase.SENT, Status.NO_REPLY); // it may have been sent
                }
            }
        }
        if (!isQueued && phase.compareAndSet(Phase.SENT, Phase.OVER)) {
            whenAnswered.run();
        }
    }

    private void fail(Phase from, Status status) {
        if (phase.compareAndSet(from, Phase.OVER)) {
            request.fail(status);
            whenAnswered.run();
        }
    }

    boolean isEnded() {
        return ended;
    }

    /** Processes a completed request. */
    void ended() {
        final InFlightRequest.Outcome outcome = requireNonNull(inFlight).outcome();
        requireNonNull(connection).release(inFlight);
        end(outcome);
    }

    /** Ends the call after its deadline, unless a response is being processed; returns whether it did. */
    boolean expire(long nowNs) {
        if (ended || nowNs - deadlineNs < 0) {
            return false;
        }
        final InFlightRequest own = requireNonNull(inFlight);
        if (own.changes(InFlightRequest.QUEUED, InFlightRequest.CANCELLED)) {
            end(InFlightRequest.Outcome.UNSENT);
        } else if (own.changes(InFlightRequest.SENT, InFlightRequest.ABANDONED)) {
            end(InFlightRequest.Outcome.LOST);
        }
        return ended;
    }

    private void end(InFlightRequest.Outcome outcome) {
        ended = true;
        if (phase.compareAndSet(Phase.SENT, Phase.OVER)) {
            try {
                final long silenceNs = session.settings().attemptNs();
                RequestCall.end(request, requireNonNull(connection), outcome, beginNs, deadlineNs, silenceNs);
            } finally {
                whenAnswered.run();
            }
        }
    }
}
