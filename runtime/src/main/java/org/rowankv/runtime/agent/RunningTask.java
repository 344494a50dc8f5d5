package org.rowankv.runtime.agent;

/** Handle of a task on its own thread, in which it may block. Safe for any thread. */
public interface RunningTask {

    boolean isOver();

    /** Waits until the work ends; interrupts stay set for the caller. Must not be called from inside the work. */
    void join();

    /** Wakes the work from a wait, so that it can end. */
    void interrupt();
}
