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
 * A {@link RequestCall} for a caller that does not wait: it never blocks. It waits for a connection until the link's attempt to make one
 * has ended, and for a place by a timer; what has been sent is waited for by the connection's {@link AsyncReader}, so the
 * place is this call's until it is over.
 */
final class AsyncCall {
    /** Times of the clock are compared by their difference. */
    static final Comparator<AsyncCall> BY_DEADLINE = (one, other) -> Long.signum(one.deadlineNs - other.deadlineNs);

    /** A place becomes free soon. */
    private static final long PLACE_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(500);

    private enum StartPhase {
        /** For a connection or a place: steps look for it, more than one may be scheduled. */
        WAITING,
        /** One of the steps has sent it, or is about to. */
        SENT,
        /** The request is its caller's again. */
        OVER
    }

    private final NetSession session;
    private final Route route;
    private final Request request;
    private final long beginNs;
    private final long deadlineNs;
    private final Runnable whenAnswered;
    private final AtomicReference<StartPhase> phase = new AtomicReference<>(StartPhase.WAITING);
    /** Written by the step that sends, before the exchange is queued. */
    private @Nullable NetConnection connection;

    private @Nullable InFlightRequest exchange;
    /** The reader has seen its end. */
    private boolean ended;

    AsyncCall(NetSession session, Route route, Request request, long beginNs, long deadlineNs, Runnable whenAnswered) {
        this.session = session;
        this.route = route;
        this.request = request;
        this.beginNs = beginNs;
        this.deadlineNs = deadlineNs;
        this.whenAnswered = whenAnswered;
    }

    /** Sends it if that is possible now. */
    void step() {
        if (phase.get() != StartPhase.WAITING) {
            return; // the request may serve for another operation already
        }
        boolean stepped = false;
        try {
            proceed();
            stepped = true;
        } finally {
            if (!stepped) {
                fail(StartPhase.WAITING, Status.UNREACHABLE);
            }
        }
    }

    private void proceed() {
        final long nowNs = session.clock().nanoTime();
        if (session.isClosed()) {
            fail(StartPhase.WAITING, Status.CLOSED);
            return;
        }
        if (deadlineNs - nowNs <= 0) {
            fail(StartPhase.WAITING, Status.UNREACHABLE);
            return;
        }
        final StepTimer timer = session.timer();
        final ServerLink link = route.primaryOf(request.shard());
        NetConnection present = link.presentOrSoon();
        if (present == null && link.isConnecting()) {
            timer.at(deadlineNs, this::step); // first: whatever fails behind this, the call ends
            if (link.whenConnected(() -> timer.at(session.clock().nanoTime(), this::step))) {
                return;
            }
            present = link.presentOrSoon(); // made meanwhile
        }
        final InFlightRequest place = present == null ? null : present.tryBorrow();
        if (present == null) {
            fail(StartPhase.WAITING, Status.UNREACHABLE);
        } else if (place == null) {
            timer.at(nowNs + Math.min(deadlineNs - nowNs, PLACE_PAUSE_NS), this::step);
        } else {
            send(present, place);
        }
    }

    private void send(NetConnection present, InFlightRequest place) {
        if (!phase.compareAndSet(StartPhase.WAITING, StartPhase.SENT)) {
            present.giveBack(place);
            return;
        }
        connection = present;
        exchange = place;
        boolean isQueued = false;
        boolean isFlushed = false;
        try {
            isQueued = RequestCall.send(request, present, place, route.term(), this);
            if (isQueued) {
                present.flush();
            }
            isFlushed = true;
        } finally {
            if (!isFlushed) {
                try {
                    present.abandon(place);
                } finally {
                    fail(StartPhase.SENT, Status.NO_REPLY); // it may have left
                }
            }
        }
        if (!isQueued && phase.compareAndSet(StartPhase.SENT, StartPhase.OVER)) {
            whenAnswered.run();
        }
    }

    private void fail(StartPhase from, Status status) {
        if (phase.compareAndSet(from, StartPhase.OVER)) {
            request.fail(status);
            whenAnswered.run();
        }
    }

    // --- by the connection's reader ---

    boolean isEnded() {
        return ended;
    }

    /** Its exchange is done. */
    void ended() {
        final InFlightRequest.Outcome outcome = requireNonNull(exchange).outcome();
        requireNonNull(connection).giveBack(exchange);
        end(outcome);
    }

    /** Ends it if its time is over and nobody is about to answer it; whether it did. */
    boolean expire(long nowNs) {
        if (ended || nowNs - deadlineNs < 0) {
            return false;
        }
        final InFlightRequest own = requireNonNull(exchange);
        if (own.changes(InFlightRequest.QUEUED, InFlightRequest.CANCELLED)) {
            end(InFlightRequest.Outcome.UNSENT);
        } else if (own.changes(InFlightRequest.SENT, InFlightRequest.ABANDONED)) {
            end(InFlightRequest.Outcome.LOST);
        }
        return ended;
    }

    private void end(InFlightRequest.Outcome outcome) {
        ended = true;
        if (phase.compareAndSet(StartPhase.SENT, StartPhase.OVER)) {
            try {
                final long patienceNs = session.settings().attemptNs();
                RequestCall.end(request, requireNonNull(connection), outcome, beginNs, deadlineNs, patienceNs);
            } finally {
                whenAnswered.run();
            }
        }
    }
}
