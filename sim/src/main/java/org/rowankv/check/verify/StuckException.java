package org.rowankv.check.verify;

/** The run does not come on any more; says where its threads stand. The store cannot be closed either. */
public final class StuckException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StuckException(String message) {
        super(message);
    }
}
