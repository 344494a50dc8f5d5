package org.rowankv.server.dispatch;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;
import org.rowankv.server.area.LostAreaException;

/** Lifecycle state of a server, and the exception that rejected callers receive. Thread-safe. */
public final class ServingState {
    private volatile boolean open;
    /** Cause of the exception that new requests receive. */
    private volatile @Nullable RuntimeException refusal;
    /** Cause of the exception that pending and new requests receive. */
    private volatile @Nullable RuntimeException failure;
    /** Handles a memory fault; returns the exception for the caller that met it. */
    private Function<InternalError, RuntimeException> whenFaulty =
            fault -> new IllegalStateException("memory fault", fault);

    /** Sets the handler of memory faults. Call before the start. */
    public void whenFaulty(Function<InternalError, RuntimeException> handler) {
        whenFaulty = handler;
    }

    /** Handles a memory fault; returns the exception for the caller that met it. */
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

    /** Rejects new requests with this exception; pending ones may still be answered. */
    public void refuse(RuntimeException why) {
        refusal = why;
        open = false;
    }

    /** Rejects new and pending requests with this exception. */
    public void fail(RuntimeException why) {
        refuse(why);
        failure = why;
    }

    public boolean hasFailed() {
        return failure != null;
    }

    /** Whether the memory must not be accessed any more. */
    public boolean isLost() {
        return failure instanceof LostAreaException;
    }

    /** Called by a request that arrives. */
    public void requireNotRefused() {
        requireNone(refusal, Status.CLOSED);
    }

    /**
     * Called by a request that waits.
     *
     * @param begun whether it may have taken effect
     */
    void requireNotFailed(boolean begun) {
        requireNone(failure, begun ? Status.OUTCOME_UNKNOWN : Status.CLOSED);
    }

    private static void requireNone(@Nullable RuntimeException why, Status status) {
        if (why != null) {
            // A new exception: with each caller's stack, and without growing suppressed exceptions.
            throw new NotServedException(status, String.valueOf(why.getMessage()), why);
        }
    }
}
