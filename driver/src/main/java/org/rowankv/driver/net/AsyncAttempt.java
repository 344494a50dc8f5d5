package org.rowankv.driver.net;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.RequestDescriptor;

/**
 * One attempt of a request for a caller that does not wait: goes to the shard's primary, and again or elsewhere while nothing was
 * applied, until its time is over. It never blocks. What it waits for (a connection, a newer configuration, a place) is made
 * elsewhere, for all attempts at once; the attempt looks again after a pause. For one thread at a time.
 */
final class AsyncAttempt {
    private static final long FIRST_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long MAX_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);
    /** A place becomes free soon. */
    private static final long PLACE_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(500);

    private final NetSession session;
    private final Request request;
    private final long beginNs;
    private final long deadlineNs;
    private final Runnable whenAnswered;
    private final AtomicBoolean over = new AtomicBoolean();
    /** The pause that it makes now: taken by the timer when that is over, or before by a new connection. */
    private final AtomicReference<@Nullable Object> pause = new AtomicReference<>();

    private volatile boolean awaitsConnection;
    /** An attempt to connect has ended since the attempt began to wait for that. */
    private volatile boolean connected;

    private long pauseNs;
    /** When it began what it tries now. */
    private long triedNs;

    AsyncAttempt(NetSession session, Request request, long beginNs, long deadlineNs, Runnable whenAnswered) {
        this.session = session;
        this.request = request;
        this.beginNs = beginNs;
        this.triedNs = beginNs;
        this.deadlineNs = deadlineNs;
        this.whenAnswered = whenAnswered;
    }

    /** Sends it if that is possible now. */
    void step() {
        if (over.get()) {
            return; // the request may serve for another operation already
        }
        boolean stepped = false;
        try {
            send();
            stepped = true;
        } finally {
            if (!stepped) {
                end(Status.NO_REPLY); // an error: it may have left
            }
        }
    }

    private void send() {
        final Route now = session.route();
        final Status refused = session.whyNotSent(request, now);
        if (refused != Status.OK) {
            end(refused);
            return;
        }
        final NetConnection connection = connection(now.primaryOf(request.shard()));
        if (connection == null) {
            again(Status.UNREACHABLE, now);
            return;
        }
        if (RequestDescriptor.lengthOf(request) > connection.maxFrame()) {
            end(Status.TOO_LARGE);
            return;
        }
        final long sinceNs = triedNs;
        if (!connection.callAsync(
                request, now.term(), deadlineNs, outcome -> answered(outcome, now, connection, sinceNs))) {
            againAfter(PLACE_PAUSE_NS, Status.UNREACHABLE);
        }
    }

    private @Nullable NetConnection connection(ServerLink link) {
        final NetConnection present = link.presentOrSoon();
        if (present != null) {
            return present;
        }
        if (!awaitsConnection) {
            connected = false;
            awaitsConnection = true;
            final boolean announced = link.whenConnected(() -> {
                awaitsConnection = false;
                connected = true;
                session.timer().at(session.clock().nanoTime(), () -> resume(pause.get()));
            });
            if (!announced) {
                awaitsConnection = false;
            }
        }
        return link.presentOrSoon(); // made meanwhile
    }

    private void answered(Exchange.Outcome outcome, Route tried, NetConnection connection, long sinceNs) {
        switch (outcome) {
            case ANSWERED -> {
                if (NetSession.isForAnother(request.status())) {
                    again(request.status(), tried);
                } else if (over.compareAndSet(false, true)) {
                    whenAnswered.run();
                }
            }
            case UNSENT -> again(Status.UNREACHABLE, tried);
            case LOST -> {
                if (connection.isSilent(sinceNs, deadlineNs, session.settings().attemptNs())) {
                    connection.fail(new IOException("nothing was heard for too long"));
                }
                end(Status.NO_REPLY);
            }
        }
    }

    /** Nothing was applied: once more by the newest configuration. */
    private void again(Status status, Route tried) {
        session.seek(tried.term());
        pauseNs = session.route().term() > tried.term()
                ? 0
                : Math.min(MAX_PAUSE_NS, Math.max(FIRST_PAUSE_NS, 2 * pauseNs));
        againAfter(pauseNs, status);
    }

    private void againAfter(long ns, Status status) {
        final long nowNs = session.clock().nanoTime();
        if (NetSession.isTooLate(nowNs, beginNs, deadlineNs)) {
            end(session.isClosed() ? Status.CLOSED : status);
            return;
        }
        boolean scheduled = false;
        try {
            final Object own = new Object();
            pause.set(own);
            // In this order: what ends from here on finds the pause, and what ended before is seen here.
            final boolean soon = connected;
            connected = false;
            session.timer().at(soon ? nowNs : nowNs + ns, () -> resume(own));
            scheduled = true;
        } finally {
            if (!scheduled) {
                end(status);
            }
        }
    }

    private void resume(@Nullable Object paused) {
        if (paused != null && pause.compareAndSet(paused, null)) {
            triedNs = session.clock().nanoTime(); // a server that it turns to now was not asked before
            step();
        }
    }

    private void end(Status status) {
        if (over.compareAndSet(false, true)) {
            request.fail(status);
            whenAnswered.run();
        }
    }
}
