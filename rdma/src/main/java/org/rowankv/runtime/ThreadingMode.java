package org.rowankv.runtime;

/** Whose threads turn the agents of a server. */
public enum ThreadingMode {
    /** One thread per agent. */
    DEDICATED,
    /** One thread per server. */
    SHARED,
    /** None: callers that wait, a test or the simulator turn them. */
    INVOKED
}
