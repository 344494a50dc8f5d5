package org.rowankv.sim;

/**
 * Thrown to end a run after an excused loss: a server without replicas has lost its data, or a device has lost bytes
 * that it had reported as forced. This breaks no guarantee, so it is counted separately.
 */
public final class LossError extends Error {
    private static final long serialVersionUID = 1L;

    public LossError(String what) {
        super(what);
    }
}
