package org.rowankv.jcache;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Failures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sequence of close steps that runs every step despite failures, so that no failing part of an application keeps a
 * directory locked or a bean registered. Used by one thread.
 */
public final class CloseSequence {
    private static final Logger LOG = LoggerFactory.getLogger(CloseSequence.class);

    private @Nullable Throwable first;

    /** Closes a part of a cache's configuration; a failure is logged and does not prevent the cache from closing. */
    static void close(@Nullable Closeable part, String cacheName) {
        if (part == null) {
            return;
        }
        try {
            part.close();
        } catch (IOException | RuntimeException e) {
            LOG.warn("ROWAN-1101 Closing a part of a cache's configuration failed cache={}", cacheName, e);
        }
    }

    public CloseSequence step(Runnable step) {
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

    /** Throws the first failure, with the others suppressed in it. */
    public void finish() {
        Failures.rethrow(first);
    }
}
