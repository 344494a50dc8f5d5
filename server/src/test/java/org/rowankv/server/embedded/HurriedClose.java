package org.rowankv.server.embedded;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A close that waits for the deadlines of others, while the clock runs fast. */
public final class HurriedClose {
    private static final int MOST_WAITS = 10_000;

    private HurriedClose() {}

    /** Closes it, and advances its clock until it is closed. */
    public static void of(Runnable close, Runnable hurry) throws Exception {
        final CompletableFuture<Void> closed = CompletableFuture.runAsync(close);
        for (int i = 0; i < MOST_WAITS; i++) {
            hurry.run();
            try {
                closed.get(1, TimeUnit.MILLISECONDS);
                return;
            } catch (TimeoutException e) {
                // It waits.
            }
        }
        throw new AssertionError("it waits without end");
    }
}
