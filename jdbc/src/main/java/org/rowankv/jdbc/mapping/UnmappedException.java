package org.rowankv.jdbc.mapping;

/** An entry does not fit into the columns that were found in others. */
public final class UnmappedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnmappedException(String message) {
        super(message);
    }
}
