package org.rowankv.runtime.agent;

/** Assignment of a server's agents to threads. */
public enum ThreadingMode {
    /** One thread per agent that may run concurrently. */
    DEDICATED,
    /** One thread per server. */
    SHARED,
    /** No threads: waiting callers, a test or the simulator run the agents. */
    INVOKED;

    /** From this many processors on, a server's agents do not share a thread by default. */
    private static final int PROCESSORS_FOR_DEDICATED = 8;

    /** Default mode of a server process on a machine with this many processors. */
    public static ThreadingMode forProcessors(int processors) {
        return processors < PROCESSORS_FOR_DEDICATED ? SHARED : DEDICATED;
    }
}
