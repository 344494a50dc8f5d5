package org.rowankv.spring;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of failures of caches: thrown, or counted and logged. An outage fails every request: of one kind of
 * failure at most one line is logged in ten seconds. Thread-safe.
 */
final class CacheFailures {
    private static final Logger LOG = LoggerFactory.getLogger("org.rowankv.spring.cache");
    private static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(10);

    /** One operation on one cache. */
    private static final class Line {
        private long nextNs;
        private long unlogged;

        private Line(long nowNs) {
            this.nextNs = nowNs;
        }

        /** The failures since the last line, this one included; 0 if none is due. */
        private synchronized long take(long nowNs) {
            unlogged++;
            if (nowNs - nextNs < 0) {
                return 0;
            }
            final long taken = unlogged;
            unlogged = 0;
            nextNs = nowNs + INTERVAL_NS;
            return taken;
        }
    }

    private final CacheErrors errors;
    private final Clock clock;
    private final Map<String, Line> lines = new ConcurrentHashMap<>();
    /** What loaders of futures threw: Spring takes it for failures of the cache. */
    private final Set<Throwable> ofLoaders =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    CacheFailures(CacheErrors errors, Clock clock) {
        this.errors = errors;
        this.clock = clock;
    }

    /**
     * Throws the failure, or logs it.
     *
     * @param effect what happens instead, for the log
     */
    void ignore(RuntimeException failure, String operation, String cache, String effect) {
        if (errors == CacheErrors.THROW) {
            throw failure;
        }
        final long nowNs = clock.nanoTime();
        final long count = lines.computeIfAbsent(operation + ' ' + cache, line -> new Line(nowNs))
                .take(nowNs);
        if (count > 0) {
            LOG.warn(
                    "ROWAN-1201 Cache failed cache={} operation={} failures={} effect=\"{}\": {}",
                    cache,
                    operation,
                    count,
                    effect,
                    failure.toString());
        }
        LOG.debug("Cache failed cache={} operation={}", cache, operation, failure);
    }

    /** Notes a failure that is not the cache's. */
    void addOfLoader(Throwable failure) {
        ofLoaders.add(failure);
    }

    /** Whether it, or what it wraps, was thrown by a loader. */
    boolean isOfLoader(Throwable failure) {
        return ofLoaders.contains(
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure);
    }

    /** Whether the servers could not be asked, so that asking once more will wait in vain. */
    static boolean isUnreachable(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof RowanException remote) {
                final Status status = remote.status();
                return status == Status.UNREACHABLE
                        || status == Status.NO_REPLY
                        || status == Status.OUTCOME_UNKNOWN
                        || status == Status.CLOSED;
            }
        }
        return false;
    }
}
