package org.rowankv.server.dispatch;

/**
 * A request that its owner polls step by step and that never blocks, unlike {@link RequestDispatch#call}. One request
 * at a time; for one thread at a time.
 */
public interface PollableCall {
    /** Restarts the call with the current content of the request. The previous request was answered or abandoned. */
    void again();

    /** Does what is possible now; true when the request is answered. Never blocks. */
    boolean step();

    /**
     * Abandons the answer and releases all resources. A mutation that has begun may still take effect. Call
     * {@link #again} before the next step.
     */
    default void abandon() {}

    /** Whether the call still waits for a worker context: until another mutation ends, a step has no effect. */
    boolean awaitsWorker();
}
