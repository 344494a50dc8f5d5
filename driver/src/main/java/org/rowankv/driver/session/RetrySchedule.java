package org.rowankv.driver.session;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;

/**
 * Retry policy of an operation: whether it has another attempt, and when. The only place that repeats requests: a
 * {@link Session} carries one attempt.
 *
 * <p>After a lost reply the outcome is open: the operation retries at once, until its deadline. Statuses that state
 * that nothing was applied, but may be by another server or later ({@link Status#isForAnother}), permit retries for
 * half of the operation's time: the last of these attempts still has the other half for its reply, so a known outcome
 * does not become unknown. Before such an attempt the session searches for a newer configuration; while there is none,
 * pauses grow from 0.2 ms to 20 ms. After a lost reply these attempts also continue until the deadline. Owned by one
 * caller.
 */
public final class RetrySchedule {
    /** No other attempt: the status is final. */
    public static final long NEVER = -1;

    private static final long FIRST_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long MAX_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Session session;
    private final Clock clock;
    private long untilNs;
    private long searchUntilNs;
    /** Term of the last attempt's configuration, or an older one. */
    private long triedTerm;

    private long pauseNs;
    private boolean replyLost;

    public RetrySchedule(Session session, Clock clock) {
        this.session = session;
        this.clock = clock;
    }

    /**
     * Begins an operation.
     *
     * @param deadlineNs end of the operation
     */
    public void begin(long nowNs, long deadlineNs) {
        untilNs = deadlineNs;
        searchUntilNs = nowNs + (deadlineNs - nowNs) / 2;
        beginRequest();
    }

    /** Continues the operation with another request: the outcome of the previous one is settled. */
    void beginRequest() {
        replyLost = false;
        pauseNs = 0;
        triedTerm = session.configuration().term();
    }

    /** Begins an operation whose first attempt used no schedule, but the configuration with that term. */
    void beginBehindFirst(long beganNs, long deadlineNs, long term) {
        begin(beganNs, deadlineNs);
        triedTerm = term;
    }

    /** The pause before the next attempt after that status; 0: none. Or {@link #NEVER}. */
    public long afterAnswer(Status status) {
        if (status == Status.NO_REPLY) {
            replyLost = true;
            return triesUntil(untilNs, 0);
        }
        if (!status.isForAnother()) {
            return NEVER;
        }
        // Also after the last attempt: for later operations, which may have as little time.
        pauseNs = session.seek(triedTerm) ? 0 : Math.min(MAX_PAUSE_NS, Math.max(FIRST_PAUSE_NS, 2 * pauseNs));
        return triesUntil(replyLost ? untilNs : searchUntilNs, pauseNs);
    }

    private long triesUntil(long endNs, long waitNs) {
        triedTerm = session.configuration().term();
        final long leftNs = endNs - clock.nanoTime();
        return leftNs > 0 ? Math.min(waitNs, leftNs) : NEVER;
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
