package org.rowankv.runtime;

/**
 * Counter of one agent's consecutive failures. Only a duty cycle that did work resets it: an agent often alternates
 * between an idle cycle and the same failure. The kind of failure is ignored, because the JVM omits the stack of a
 * frequent one.
 *
 * <p>Owned by the thread that runs the agent.
 */
public final class FailureRun {
    /** At this many consecutive failures, chance is ruled out as the cause. */
    public static final int LONGEST = 100;

    private int failures;

    /** A duty cycle completed without a failure. */
    public void completed(int work) {
        if (work > 0) {
            failures = 0;
        }
    }

    /** Returns what the duty cycle throws: the failure itself, or a broken invariant at the end of the run. */
    public Throwable failed(String roleName, Throwable failure) {
        if (failure instanceof Error || ++failures < LONGEST) {
            return failure;
        }
        return new AssertionError(
                roleName + " failed " + failures + " times in a row without work in between, the last is " + failure,
                failure);
    }
}
