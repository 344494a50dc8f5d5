package org.rowankv.sim;

/** Thrown when a guarantee was broken. Ends the simulation. */
public final class ViolationError extends Error {
    private static final long serialVersionUID = 1L;

    public ViolationError(String what) {
        super(what);
    }
}
