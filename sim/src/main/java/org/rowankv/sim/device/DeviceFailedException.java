package org.rowankv.sim.device;

import java.io.IOException;

/** Thrown when the simulated device cannot write. */
public final class DeviceFailedException extends IOException {
    private static final long serialVersionUID = 1L;

    DeviceFailedException() {
        super("the simulated device cannot write");
    }

    /** Whether a failure was caused by a simulated device. */
    public static boolean isCauseOf(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof DeviceFailedException) {
                return true;
            }
        }
        return false;
    }
}
