package org.rowankv.sim;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;

/** A client's way to the servers: it carries one attempt at a time, and waits a while for its reply. */
public abstract class Exchange {
    private final SeedRun run;
    private final RandomSource random;
    private final long attemptNs;
    private final int mostDoublings;
    private @Nullable Task client;
    private @Nullable Request request;
    private @Nullable Request answer;
    private int attempt;
    /** An attempt is in progress. */
    private boolean isOpen;

    private int doublings;
    private long timeoutAtNs;

    /**
     * Carries nothing yet.
     *
     * @param attemptNs mean time for which the first attempt waits
     * @param mostDoublings of that time, where no reply arrives
     */
    protected Exchange(SeedRun run, RandomSource random, long attemptNs, int mostDoublings) {
        this.run = run;
        this.random = random;
        this.attemptNs = attemptNs;
        this.mostDoublings = mostDoublings;
    }

    /** The client that uses it. */
    final void serve(Task user) {
        client = user;
    }

    public final long attemptNs() {
        return attemptNs;
    }

    /** A random fraction of the time of an attempt, doubled so many times. */
    protected final long fractionNs(int divisor, int times) {
        return attemptNs / divisor + random.nextInt((int) attemptNs) << times;
    }

    /** Whether the next attempt repeats the last one. */
    protected final boolean isRepeated(Request next) {
        return next == request;
    }

    /** Starts an attempt. */
    final void begin(Request next) {
        // Exponential back-off: otherwise attempts pile up at a stalled server.
        final boolean isLost = isRepeated(next) && next.status() == Status.NO_REPLY;
        doublings = isLost ? Math.min(mostDoublings, doublings + 1) : isRepeated(next) ? doublings : 0;
        begins(next);
        request = next;
        timeoutAtNs = run.timeline().nowNs() + fractionNs(2, doublings);
        isOpen = true;
        send(++attempt, next);
    }

    /** An attempt is about to start. */
    protected void begins(Request next) {
        // Nothing to note.
    }

    protected abstract void send(int number, Request next);

    /** When {@link #finish} is due: at the reply, or at the deadline. */
    final long readyAtNs() {
        return answer != null ? 0 : timeoutAtNs;
    }

    /** The attempt is over: the request holds the reply, or NO_REPLY. */
    final void finish() {
        final Request asked = request;
        if (asked == null) {
            throw new AssertionError("no request is in progress");
        }
        final Request found = answer;
        answer = null;
        isOpen = false;
        if (found == null) {
            run.eventCounters().count("attempts given up");
            givenUp();
            asked.fail(Status.NO_REPLY);
        } else {
            take(found, asked);
        }
    }

    /** The operation is over: the next attempt is the first of another one. */
    final void over() {
        request = null;
    }

    /** No reply has arrived in time. */
    protected void givenUp() {
        // The next attempt takes the same way.
    }

    /** Takes a reply over. */
    protected void take(Request found, Request asked) {
        asked.clearAnswer();
        if (found.hasResult()) {
            System.arraycopy(found.result(), 0, asked.resultOf(found.resultLength()), 0, found.resultLength());
        }
        asked.answer(found.status(), found.bits(), found.version(), found.previousVersion());
    }

    /** Additional pause of its client before the next attempt. */
    protected long pauseNs() {
        return 0;
    }

    /** The reply of an attempt; a late one is ignored. */
    public final void receive(int ofAttempt, Request answered) {
        if (client != null && isOpen && ofAttempt == attempt) {
            answer = answered;
            run.scheduler().changed(client);
        }
    }

    @Override
    public String toString() {
        return String.valueOf(client);
    }
}
