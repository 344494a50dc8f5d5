package org.rowankv.sim.device;

/** Thrown when the power fails in the middle of a write to the device. */
public final class PowerFailure extends Error {
    private static final long serialVersionUID = 1L;
}
