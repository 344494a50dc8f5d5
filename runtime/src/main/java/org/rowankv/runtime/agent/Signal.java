package org.rowankv.runtime.agent;

/** A signal with which one thread wakes another. A signal given before the wait is not lost. Safe for any thread. */
public interface Signal {

    /** Wakes the waiting thread, or lets the next wait return at once. */
    void give();

    /**
     * Waits for the signal, at most this long, and consumes all signals given.
     *
     * @return whether the signal was given
     * @throws InterruptedException if the calling thread was interrupted
     */
    boolean await(long ns) throws InterruptedException;
}
