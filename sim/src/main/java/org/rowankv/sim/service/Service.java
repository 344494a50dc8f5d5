package org.rowankv.sim.service;

import org.rowankv.check.history.Event;
import org.rowankv.protocol.Request;

/** A task that runs beside the clients, in steps. Owned by its simulation's thread. */
public interface Service {
    long NEVER = Long.MAX_VALUE;

    /** The time from which it has work. */
    long readyAtNs();

    void step();

    /**
     * Whether a step waits for other tasks: then it begins only when no task is stopped that must continue before it
     * ends.
     */
    default boolean blocks() {
        return false;
    }

    /** Whether it is a caller's thread, which an error can end. */
    default boolean isCaller() {
        return false;
    }

    /** The bottommost waiting task has been parked once more. */
    default void paused() {}

    /** A server starts to execute an attempt. */
    default void arrived(Request request) {}

    /** A server has replied to an attempt; the reply may never reach its sender. */
    default void answered(Request request) {}

    /** The clients pause, and no faults are injected: completes and checks the work in progress. */
    default void rest() {}

    /** After {@link #rest}: the value of a key. */
    default void read(int key, Event read) {}

    /** After the last of these reads. */
    default void afterReads() {}
}
