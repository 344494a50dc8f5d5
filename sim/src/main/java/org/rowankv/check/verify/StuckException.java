package org.rowankv.check.verify;

/** Thrown when the run makes no progress; contains the stacks of its threads. The store cannot be closed either. */
public final class StuckException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StuckException(String message) {
        super(message);
    }
}
