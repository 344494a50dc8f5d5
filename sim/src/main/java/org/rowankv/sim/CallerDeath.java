package org.rowankv.sim;

/** An error that strikes a caller's thread at some point, as a full stack or memory would. */
final class CallerDeath extends Error {
    private static final long serialVersionUID = 1L;

    CallerDeath(String point) {
        super("the caller's thread died at " + point, null, false, false);
    }
}
