package org.rowankv.runtime;

/**
 * Counts the failures of one agent in a row. Only a turn that worked ends the row: an agent often finds nothing to do, and then
 * meets the same failure again. The kind of failure does not count: a JVM leaves the stack of a frequent one away.
 *
 * <p>Owned by the thread that turns the agent.
 */
public final class FailureRun {
    /** So many, and the agent does not fail by chance. */
    public static final int LONGEST = 100;

    private int failures;

    /** A turn ended without a failure. */
    public void turned(int work) {
        if (work > 0) {
            failures = 0;
        }
    }

    /** Returns what the turn throws: the failure, or the last of a row as a broken invariant. */
    public Throwable failed(String roleName, Throwable failure) {
        if (failure instanceof Error || ++failures < LONGEST) {
            return failure;
        }
        return new AssertionError(
                roleName + " failed " + failures + " times in a row without work in between, at last by " + failure,
                failure);
    }
}
