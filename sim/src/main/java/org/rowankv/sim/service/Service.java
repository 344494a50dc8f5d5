package org.rowankv.sim.service;

import org.rowankv.check.history.Event;
import org.rowankv.protocol.Request;

/** Something that gets turns beside the clients. Owned by its simulation's thread. */
public interface Service {
    long NEVER = Long.MAX_VALUE;

    /** From when on there is something to do. */
    long readyAtNs();

    void step();

    /** Whether a turn waits for others: then it begins when no task is stopped that would have to go on before it ends. */
    default boolean blocks() {
        return false;
    }

    /** Whether it is a caller's thread, which an error can end. */
    default boolean isCaller() {
        return false;
    }

    /** The task that waits at the bottom, below all others, has had one more pause. */
    default void paused() {}

    /** A server begins with an attempt. */
    default void arrived(Request request) {}

    /** A server has answered an attempt; its sender may never hear of that. */
    default void answered(Request request) {}

    /** The clients rest, and nothing goes wrong: brings to its end what is under way, and judges it. */
    default void rest() {}

    /** Behind {@link #rest}: what a key holds. */
    default void read(int key, Event read) {}

    /** Behind the last of them. */
    default void afterReads() {}
}
