package org.rowankv.jcache;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Failures;

/**
 * The steps of closing something: each is done, whatever the others throw, so that no failing part of an application
 * keeps a directory locked or a bean registered. Used by one thread.
 */
public final class Closing {
    private @Nullable Throwable first;

    public Closing step(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            if (first == null) {
                first = e;
            } else if (first != e) {
                first.addSuppressed(e);
            }
        }
        return this;
    }

    /** Throws what the first step to fail has thrown, with the others suppressed in it. */
    public void finish() {
        Failures.rethrow(first);
    }
}
