package org.rowankv.runtime.agent;

/** Something that one thread waits for and others give. What was given before anybody waited is found. For any thread. */
public interface Signal {

    /** Whoever waits goes on, or whoever waits next does not wait. */
    void give();

    /**
     * Waits until it was given, so long at most, and takes all that was given.
     *
     * @return whether it was given
     * @throws InterruptedException if the calling thread was interrupted
     */
    boolean await(long ns) throws InterruptedException;
}
