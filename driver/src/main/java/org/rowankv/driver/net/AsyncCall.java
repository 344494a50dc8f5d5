package org.rowankv.driver.net;

import java.util.Comparator;
import java.util.function.Consumer;

/**
 * A request under way for a caller that does not wait. All but its making is done by the connection's {@link AsyncReader}; so
 * the place is this call's until it is over.
 */
final class AsyncCall {
    /** Times of the clock are compared by their difference. */
    static final Comparator<AsyncCall> BY_DEADLINE = (one, other) -> Long.signum(one.deadlineNs - other.deadlineNs);

    private final NetConnection connection;
    private final Exchange exchange;
    private final long deadlineNs;
    private final Consumer<Exchange.Outcome> whenOver;
    private boolean over;

    AsyncCall(NetConnection connection, Exchange exchange, long deadlineNs, Consumer<Exchange.Outcome> whenOver) {
        this.connection = connection;
        this.exchange = exchange;
        this.deadlineNs = deadlineNs;
        this.whenOver = whenOver;
    }

    boolean isOver() {
        return over;
    }

    /** Its exchange is done. */
    void ended() {
        final Exchange.Outcome outcome = exchange.outcome();
        connection.giveBack(exchange);
        over = true;
        whenOver.accept(outcome);
    }

    /** Ends it if its time is over and nobody is about to answer it; whether it did. */
    boolean expire(long nowNs) {
        if (over || nowNs - deadlineNs < 0) {
            return false;
        }
        if (exchange.changes(Exchange.QUEUED, Exchange.CANCELLED)) {
            over = true;
            whenOver.accept(Exchange.Outcome.UNSENT);
        } else if (exchange.changes(Exchange.SENT, Exchange.ABANDONED)) {
            over = true;
            whenOver.accept(Exchange.Outcome.LOST);
        }
        return over;
    }
}
