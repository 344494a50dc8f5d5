package org.rowankv.server.dispatch;

/**
 * A request in the hands of somebody who turns it step by step and does other things in between, where {@link
 * org.rowankv.server.engine.Server#call} would wait. One request at a time; for one thread at a time.
 */
public interface SteppedCall {
    /** Begins anew with what is in the request now. The request before was answered, or abandoned. */
    void again();

    /** Does what can be done now; true when the request is answered. Never blocks. */
    boolean step();

    /**
     * Nobody waits for the answer any more, and nothing is held for it from now on; what it has begun may take effect all
     * the same. Not stepped again but after {@link #again}.
     */
    default void abandon() {}

    /** Whether it has got no further than to want what others hold: until one of them ends, a step is in vain. */
    boolean awaitsWorker();
}
