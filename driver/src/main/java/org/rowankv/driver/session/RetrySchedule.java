package org.rowankv.driver.session;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;

/**
 * Whether an operation has another attempt, and when. Requests are tried again by this and by nothing else: a {@link Session}
 * carries one attempt.
 *
 * <p>A lost reply leaves open what was applied: the operation is tried again at once, until its deadline. Answers which say that nothing
 * was applied, but may be by another server or later ({@link Status#isForAnother}), are a reason to try again for half of the operation's time:
 * an attempt that is taken at the end of that still has the other half for its reply, so that what is known does not become unknown.
 * Before such an attempt the session looks for a newer configuration; while there is none, pauses grow from 0.2 ms to 20 ms. Once a
 * reply was lost these attempts go on until the deadline too. Owned by one caller.
 */
public final class RetrySchedule {
    /** There is no other attempt: the answer stands. */
    public static final long NEVER = -1;

    private static final long FIRST_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long MAX_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Session session;
    private final Clock clock;
    private long untilNs;
    private long searchUntilNs;
    /** Of the configuration by which the last attempt went, or an older one. */
    private long triedTerm;

    private long pauseNs;
    private boolean replyLost;

    public RetrySchedule(Session session, Clock clock) {
        this.session = session;
        this.clock = clock;
    }

    /** An operation begins. @param deadlineNs when it ends */
    public void begin(long nowNs, long deadlineNs) {
        untilNs = deadlineNs;
        searchUntilNs = nowNs + (deadlineNs - nowNs) / 2;
        beginRequest();
    }

    /** The operation goes on with another request: what became of the one before is settled. */
    void beginRequest() {
        replyLost = false;
        pauseNs = 0;
        triedTerm = session.configuration().term();
    }

    /** Of an operation whose first attempt was made without a schedule, by the configuration with that term. */
    void beginBehindFirst(long beganNs, long deadlineNs, long term) {
        begin(beganNs, deadlineNs);
        triedTerm = term;
    }

    /** How long to wait before the next attempt, since the last one was answered that; 0: not at all. Or {@link #NEVER}. */
    public long afterAnswer(Status status) {
        if (status == Status.NO_REPLY) {
            replyLost = true;
            return triesUntil(untilNs, 0);
        }
        if (!status.isForAnother()) {
            return NEVER;
        }
        // Also behind the last attempt: for the operations to come, which may have as little time.
        pauseNs = session.seek(triedTerm) ? 0 : Math.min(MAX_PAUSE_NS, Math.max(FIRST_PAUSE_NS, 2 * pauseNs));
        return triesUntil(replyLost ? untilNs : searchUntilNs, pauseNs);
    }

    private long triesUntil(long endNs, long waitNs) {
        triedTerm = session.configuration().term();
        final long leftNs = endNs - clock.nanoTime();
        return leftNs > 0 ? Math.min(waitNs, leftNs) : NEVER;
    }

    /** Whether an earlier attempt, or the last one, had no reply: then it may have been applied. */
    boolean isReplyLost() {
        return replyLost;
    }

    /** The pause of a caller that waits. An interrupt waits for its end. */
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
