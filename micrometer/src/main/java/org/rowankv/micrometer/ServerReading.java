package org.rowankv.micrometer;

import io.micrometer.core.instrument.Clock;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import javax.cache.Cache;
import javax.cache.CacheManager;

/**
 * A number that the servers of a cache count. While they cannot be reached it is the last one read: a failure of one reading
 * spares all readings of that manager the wait for ten seconds, so that reading all meters of an application ends.
 * Thread-safe.
 */
final class ServerReading {
    private static final long SPARED_NS = TimeUnit.SECONDS.toNanos(10);
    /** By manager, when a reading failed last. */
    private static final Map<CacheManager, Long> FAILED_NS = Collections.synchronizedMap(new WeakHashMap<>());

    private final ToLongFunction<Cache<?, ?>> ask;
    private final Clock clock;
    private volatile double last;

    /** @param first before the first reading that succeeds */
    ServerReading(double first, Clock clock, ToLongFunction<Cache<?, ?>> ask) {
        this.last = first;
        this.clock = clock;
        this.ask = ask;
    }

    double read(Cache<?, ?> cache) {
        final CacheManager manager = cache.getCacheManager();
        final Long failedNs = manager == null ? null : FAILED_NS.get(manager);
        if (failedNs != null && clock.monotonicTime() - failedNs < SPARED_NS) {
            return last;
        }
        try {
            last = ask.applyAsLong(cache);
        } catch (IllegalStateException e) {
            return last; // the cache is closed, which says nothing of others
        } catch (RuntimeException e) {
            if (manager != null) {
                FAILED_NS.put(manager, clock.monotonicTime());
            }
        }
        return last;
    }
}
