package org.rowankv.runtime.agent;

/**
 * A unit of work with a duty cycle. Its own runner, a shared one, or a thread that waits for its result runs it.
 *
 * <p>One thread at a time calls {@link #doWork}, not always the same one; the writes of one cycle are visible to the
 * next. It never blocks.
 */
public interface Agent {

    /** Runs one duty cycle; returns the amount of work done, 0 if the caller may idle. */
    int doWork();

    /**
     * How long the runner may idle after an empty duty cycle, in nanoseconds, beyond the usual short pause. Later work
     * is timer-driven or announced by {@link AgentHandle#endLongPause}. Any thread.
     */
    default long idleNs() {
        return 0;
    }

    /**
     * Whether the agent expects a reply soon that it finds by polling; the first pauses after its work are then short.
     * Called by the thread that ran the last duty cycle.
     */
    default boolean awaitsAnswer() {
        return false;
    }

    /** A short name for thread names and error reports. */
    String roleName();

    /** Called once, before the first duty cycle. */
    default void onStart() {}

    /** Called once, after the last duty cycle. */
    default void onClose() {}
}
