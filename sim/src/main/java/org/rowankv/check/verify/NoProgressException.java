package org.rowankv.check.verify;

/** Thrown when the run makes no progress; contains the stacks of its threads. The store cannot be closed either. */
public final class NoProgressException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NoProgressException(String message) {
        super(message);
    }
}
