package org.rowankv.server.dispatch;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;
import org.rowankv.server.area.LostAreaException;

/** Whether a server serves, and what those get whom it does not serve, or who meet a fault of its memory. Thread-safe. */
public final class ServingState {
    private volatile boolean open;
    /** What whoever comes is told instead of an answer. */
    private volatile @Nullable RuntimeException refusal;
    /** Why it serves nobody any more, not even those who wait already. */
    private volatile @Nullable RuntimeException failure;
    /** Told of faults of the memory; returns what whoever met one gets. */
    private Function<InternalError, RuntimeException> whenFaulty =
            fault -> new IllegalStateException("a fault of the memory", fault);

    /** Before the start. */
    public void whenFaulty(Function<InternalError, RuntimeException> handler) {
        whenFaulty = handler;
    }

    /** Tells of a fault of the memory; returns what whoever met it gets. */
    public RuntimeException faulty(InternalError fault) {
        return whenFaulty.apply(fault);
    }

    public void open() {
        open = true;
    }

    public void close() {
        open = false;
    }

    public boolean isOpen() {
        return open;
    }

    /** Whoever comes from now on gets this exception; who waits already may still be answered. */
    public void refuse(RuntimeException why) {
        refusal = why;
        open = false;
    }

    /** Whoever waits or comes gets this exception. */
    public void fail(RuntimeException why) {
        refuse(why);
        failure = why;
    }

    public boolean hasFailed() {
        return failure != null;
    }

    /** Whether the memory is not to be touched any more. */
    public boolean isLost() {
        return failure instanceof LostAreaException;
    }

    /** For a request that arrives. */
    public void requireNotRefused() {
        requireNone(refusal, Status.CLOSED);
    }

    /**
     * For a request that waits.
     *
     * @param begun whether it may have taken effect
     */
    void requireNotFailed(boolean begun) {
        requireNone(failure, begun ? Status.OUTCOME_UNKNOWN : Status.CLOSED);
    }

    private static void requireNone(@Nullable RuntimeException why, Status status) {
        if (why != null) {
            // Made anew: each caller's stack, and none that grows by what is suppressed in it.
            throw new NotServedException(status, String.valueOf(why.getMessage()), why);
        }
    }
}
