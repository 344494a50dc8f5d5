package org.rowankv.sim;

/** The process ends here: takes the thread out of whatever it is in. What it does on its way out reaches nobody. */
public final class CrashError extends Error {
    private static final long serialVersionUID = 1L;

    public CrashError() {
        super("the simulated process ended", null, false, false);
    }
}
