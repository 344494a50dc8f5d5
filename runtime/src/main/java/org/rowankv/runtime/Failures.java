package org.rowankv.runtime;

import org.jspecify.annotations.Nullable;

/** Failure collector for sequences whose steps all run even if some fail; selects what is thrown at the end. */
public final class Failures {
    private Failures() {}

    /**
     * Returns the failure to throw, with the other one suppressed in it. A broken invariant must not hide behind
     * another error, nor an error behind an ordinary failure.
     */
    public static Throwable worse(@Nullable Throwable first, Throwable second) {
        if (first == null || gravity(second) > gravity(first)) {
            if (first != null) {
                second.addSuppressed(first);
            }
            return second;
        }
        if (first != second) {
            first.addSuppressed(second);
        }
        return first;
    }

    private static int gravity(Throwable failure) {
        return failure instanceof AssertionError ? 2 : failure instanceof Error ? 1 : 0;
    }

    /** Rethrows the failure unless it is null. */
    public static void rethrow(@Nullable Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }
}
