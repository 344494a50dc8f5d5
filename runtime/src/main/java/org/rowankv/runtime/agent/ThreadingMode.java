package org.rowankv.runtime.agent;

/** Whose threads turn the agents of a server. */
public enum ThreadingMode {
    /** A thread for each of those that may run side by side. */
    DEDICATED,
    /** One thread per server. */
    SHARED,
    /** None: callers that wait, a test or the simulator turn them. */
    INVOKED;

    /** With so many processors, or more, a server's agents do not share a thread unless told to. */
    private static final int PROCESSORS_FOR_DEDICATED = 8;

    /** What a server process does on a machine with so many processors, if it is not told. */
    public static ThreadingMode forProcessors(int processors) {
        return processors < PROCESSORS_FOR_DEDICATED ? SHARED : DEDICATED;
    }
}
