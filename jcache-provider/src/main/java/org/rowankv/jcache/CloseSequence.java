package org.rowankv.jcache;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Failures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps of closing something: each is done, whatever the others throw, so that no failing part of an application
 * keeps a directory locked or a bean registered. Used by one thread.
 */
public final class CloseSequence {
    private static final Logger LOG = LoggerFactory.getLogger(CloseSequence.class);

    private @Nullable Throwable first;

    /** Closes a part of a cache's configuration. The user's object may fail to close; the cache is closed all the same. */
    static void close(@Nullable Closeable part, String cacheName) {
        if (part == null) {
            return;
        }
        try {
            part.close();
        } catch (IOException | RuntimeException e) {
            LOG.warn("a part of the configuration of the cache {} failed to close", cacheName, e);
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

    /** Throws what the first step to fail has thrown, with the others suppressed in it. */
    public void finish() {
        Failures.rethrow(first);
    }
}
