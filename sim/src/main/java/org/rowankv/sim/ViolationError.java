package org.rowankv.sim;

/** A promise was broken. Ends the simulation. */
public final class ViolationError extends Error {
    private static final long serialVersionUID = 1L;

    public ViolationError(String what) {
        super(what);
    }
}
