package org.rowankv.sim;

/**
 * Ends a run: a server without replicas has lost what only it had, or a device has lost what it had reported as kept. No promise is
 * broken by that, so it is counted apart.
 */
public final class LossError extends Error {
    private static final long serialVersionUID = 1L;

    public LossError(String what) {
        super(what);
    }
}
