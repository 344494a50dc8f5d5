package org.rowankv.sim;

/** A promise was broken. Ends the simulation. */
final class ViolationError extends Error {
    private static final long serialVersionUID = 1L;

    ViolationError(String what) {
        super(what);
    }
}
