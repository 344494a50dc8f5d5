package org.rowankv.server.dispatch;

import org.rowankv.protocol.Request;

/** The mutations of one event loop, polled in each of its cycles. For its thread. */
@FunctionalInterface
public interface PollableCalls {
    /** Creates a reusable call for that request. */
    PollableCall callOf(Request request);

    /** Requests have been read from a connection: what is called next may be younger than all that was called before. */
    default void arrived() {}

    /**
     * Sends the output of all calls and processes arrived completions. Called in every cycle, after new or continued
     * calls. Never blocks.
     */
    default void poll() {}

    /** Helps the agents that pending calls may depend on. Called after an idle interval. */
    default void help() {}
}
