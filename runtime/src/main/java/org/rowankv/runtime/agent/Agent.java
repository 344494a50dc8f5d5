package org.rowankv.runtime.agent;

/**
 * Something that runs: a duty cycle, turned by a runner of its own, by a shared one, or by whoever waits for it.
 *
 * <p>{@link #doWork} is called by one thread at a time, not always by the same one; what one turn wrote the next one
 * sees. It never blocks.
 */
public interface Agent {

    /** Does what there is to do; returns how much that was, 0 if the caller may rest. */
    int doWork();

    /**
     * How long whoever turns it may rest after a turn that found nothing to do, in nanoseconds, beyond the usual short pause: what
     * it does then is a timer's, or comes with a {@link TurnedAgent#rouse}. Any thread.
     */
    default long restNs() {
        return 0;
    }

    /**
     * Whether something of it is under way of which it will hear soon, by looking: then the first pauses after its work are
     * short. By who has turned it.
     */
    default boolean awaitsAnswer() {
        return false;
    }

    /** A short name for threads and error reports. */
    String roleName();

    /** Called once, before the first turn. */
    default void onStart() {}

    /** Called once, after the last turn. */
    default void onClose() {}
}
