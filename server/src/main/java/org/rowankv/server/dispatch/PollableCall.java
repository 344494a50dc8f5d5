package org.rowankv.server.dispatch;

/**
 * A request that its owner polls, step by step, and that never blocks, where {@link RequestDispatch#call} would
 * wait. One request at a time; for one thread at a time.
 */
public interface PollableCall {
    /** Begins anew with what is in the request now. The request before was answered, or abandoned. */
    void again();

    /** Does what can be done now; true when the request is answered. Never blocks. */
    boolean step();

    /**
     * Gives up the answer and all that is held for it. What the request has begun may take effect all the same. Not stepped
     * again but after {@link #again}.
     */
    default void abandon() {}

    /** Whether it has got no further than to want what others hold: until one of them ends, a step is in vain. */
    boolean awaitsWorker();
}
