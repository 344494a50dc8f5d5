package org.rowankv.sim;

/** Thrown where the process ends: it unwinds the thread. Effects of the unwinding code are discarded. */
public final class CrashError extends Error {
    private static final long serialVersionUID = 1L;

    public CrashError() {
        super("the simulated process ended", null, false, false);
    }
}
