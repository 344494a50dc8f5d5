package org.rowankv.sim;

/** An error thrown in a caller's thread at some point, as by a stack overflow or lack of memory. */
public final class CallerDeath extends Error {
    private static final long serialVersionUID = 1L;

    public CallerDeath(String point) {
        super("the caller's thread died at " + point, null, false, false);
    }
}
