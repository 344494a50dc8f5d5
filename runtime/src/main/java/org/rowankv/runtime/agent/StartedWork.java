package org.rowankv.runtime.agent;

/** Work that has a thread of its own, and may wait in it. For any thread. */
public interface StartedWork {

    boolean isOver();

    /** Waits until it is over, without regard to interrupts, which stay the caller's. Not from inside it. */
    void join();

    /** Wakes it up where it waits; it is to come to its end. */
    void interrupt();
}
