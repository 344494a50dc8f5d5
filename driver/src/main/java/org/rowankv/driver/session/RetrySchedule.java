package org.rowankv.driver.session;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;

/**
 * Retry policy of an operation: whether it has another attempt, and when. The only place that repeats requests: a
 * {@link Session} carries one attempt.
 *
 * <p>An operation ends when no time for another attempt is left, not before, as long as its last attempt had no
 * reply, or was not applied and may be by another server or later ({@link Status#isForAnother}): a shard may lose its
 * primary at any time and have the next one soon. After each such attempt the session searches for a newer
 * configuration. With one, and after the first lost reply, the next attempt follows at once; else pauses grow from 1 ms
 * to 20 ms. While the outcome is known, an attempt has as much time for its reply as the pause before it, lest the
 * outcome become unknown. A request that met a damaged entry is repeated too, while another replica's entry may replace
 * it. Owned by one caller.
 */
public final class RetrySchedule {
    /** No other attempt: the status is final. */
    public static final long NEVER = -1;

    private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MAX_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Session session;
    private final Clock clock;
    private long untilNs;
    /** Term of the last attempt's configuration, or an older one. */
    private long triedTerm;

    private long pauseNs;
    private boolean replyLost;

    public RetrySchedule(Session session, Clock clock) {
        this.session = session;
        this.clock = clock;
    }

    /** Begins an operation that ends at the deadline. */
    public void begin(long deadlineNs) {
        untilNs = deadlineNs;
        beginRequest();
    }

    /** Continues the operation with another request: the outcome of the previous one is settled. */
    void beginRequest() {
        replyLost = false;
        pauseNs = 0;
        triedTerm = session.configuration().term();
    }

    /** Begins an operation whose first attempt used no schedule, but the configuration with that term. */
    void beginBehindFirst(long deadlineNs, long term) {
        begin(deadlineNs);
        triedTerm = term;
    }

    /** Whether another attempt of an answered request may succeed. */
    static boolean isWorthRepeating(Request answered) {
        return isWorthRepeating(answered.status()) || answered.mayBeRepaired();
    }

    private static boolean isWorthRepeating(Status status) {
        return status == Status.NO_REPLY || status.isForAnother();
    }

    /** The pause before the next attempt after that answer; 0: none. Or {@link #NEVER}. */
    long afterAnswer(Request answered) {
        return isWorthRepeating(answered) ? pauseAfter(answered.status()) : NEVER;
    }

    /** As {@link #afterAnswer(Request)}, for what is no request. */
    public long afterAnswer(Status status) {
        return isWorthRepeating(status) ? pauseAfter(status) : NEVER;
    }

    private long pauseAfter(Status status) {
        final boolean isLost = status == Status.NO_REPLY;
        final boolean isAtOnce = isLost && !replyLost;
        replyLost |= isLost;
        // Also after the last attempt: for later operations, which may have as little time.
        final boolean isKnown = session.seek(triedTerm);
        pauseNs = isAtOnce || isKnown ? 0 : Math.min(MAX_PAUSE_NS, Math.max(FIRST_PAUSE_NS, 2 * pauseNs));
        triedTerm = session.configuration().term();
        return untilNs - clock.nanoTime() > (replyLost ? pauseNs : 2 * pauseNs) ? pauseNs : NEVER;
    }

    /** Whether an attempt had no reply: then it may have been applied. */
    boolean isReplyLost() {
        return replyLost;
    }

    /** Pauses the calling thread; an interrupt is restored afterwards. */
    public static void pause(long ns) {
        if (ns == 0) {
            Thread.yield();
            return;
        }
        final boolean interrupted = Thread.interrupted(); // an interrupted thread would not wait
        LockSupport.parkNanos(ns);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
