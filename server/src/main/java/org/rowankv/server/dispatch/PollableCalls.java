package org.rowankv.server.dispatch;

import org.rowankv.protocol.Request;

/** The calls of one event loop. For its thread. */
@FunctionalInterface
public interface PollableCalls {
    /** A call for that request, to be used again and again. */
    PollableCall callOf(Request request);

    /** In every turn, behind what has begun or gone on: sends what calls have to send, and hears what is answered. Never blocks. */
    default void turn() {}

    /** Nothing has happened for a while, and calls are under way: helps those that they may be waiting for. */
    default void help() {}
}
