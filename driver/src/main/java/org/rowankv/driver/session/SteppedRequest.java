package org.rowankv.driver.session;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;

/**
 * A request whose caller sends the attempts itself, and does not wait for their answers, where {@link RequestIds#execute}
 * would. It begins with the attempt in {@link #first} and is over when {@link #answered} returns null. For one thread at a
 * time.
 */
public final class SteppedRequest {
    private final Attempts attempts;
    private final Request first;
    private final Runnable whenOver;
    private boolean over;

    SteppedRequest(Attempts attempts, Request first, Runnable whenOver) {
        this.attempts = attempts;
        this.first = first;
        this.whenOver = whenOver;
    }

    /** What to hand to the session first. */
    public Request first() {
        return first;
    }

    /** What was handed to the session last has its answer; returns what to send next, or null. */
    public @Nullable Request answered() {
        final Request next = attempts.answered();
        if (next == null) {
            abandon();
        }
        return next;
    }

    /** What it holds becomes free, if it is not already: no attempt of it is sent any more, as after an error. */
    void abandon() {
        if (!over) {
            over = true;
            whenOver.run();
        }
    }
}
