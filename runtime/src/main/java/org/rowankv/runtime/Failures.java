package org.rowankv.runtime;

import org.jspecify.annotations.Nullable;

/** For steps all of which are taken, whatever fails: what is thrown at the end. */
public final class Failures {
    private Failures() {}

    /**
     * The one of two that is thrown, with the other one in it. A broken invariant must not hide behind another error, nor an
     * error behind an ordinary failure.
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

    /** Throws it, if it is one. */
    public static void rethrow(@Nullable Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }
}
