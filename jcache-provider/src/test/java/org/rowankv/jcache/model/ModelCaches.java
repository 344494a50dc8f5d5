package org.rowankv.jcache.model;

import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.expiry.ExpiryPolicy;
import org.rowankv.driver.ModelSession;
import org.rowankv.jcache.RowanCache;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ManualClock;

/** One provider and manager over a model store, with a clock that the test advances. */
public final class ModelCaches implements AutoCloseable {
    private final AtomicInteger number = new AtomicInteger();
    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private final ModelCachingProvider provider = new ModelCachingProvider(clock);
    private final CacheManager manager;

    public ModelCaches() {
        this(new Properties());
    }

    public ModelCaches(Properties properties) {
        manager = provider.getCacheManager(null, null, properties);
    }

    /** Properties of one setting. */
    public static Properties properties(String name, String value) {
        final Properties properties = new Properties();
        properties.setProperty(name, value);
        return properties;
    }

    /** A configuration with String keys and values and statistics. */
    public static MutableConfiguration<String, String> strings() {
        return new MutableConfiguration<String, String>()
                .setTypes(String.class, String.class)
                .setStatisticsEnabled(true);
    }

    /** As {@link #strings}, with that policy, which need not be serializable. */
    public static MutableConfiguration<String, String> strings(ExpiryPolicy policy) {
        return strings().setExpiryPolicyFactory(() -> policy);
    }

    public <K, V> Cache<K, V> create(MutableConfiguration<K, V> configuration) {
        return manager.createCache("cache-" + number.incrementAndGet(), configuration);
    }

    public Cache<String, String> create() {
        return create(strings());
    }

    /** The cache's operations beyond the JSR. */
    @SuppressWarnings("unchecked") // unwrap has no type parameters
    public static <K, V> RowanCache<K, V> unwrap(Cache<K, V> cache) {
        return cache.unwrap(RowanCache.class);
    }

    public ManualClock clock() {
        return clock;
    }

    public ModelCachingProvider provider() {
        return provider;
    }

    public CacheManager manager() {
        return manager;
    }

    public ModelSession session() {
        return provider.opened().get(provider.opened().size() - 1).session();
    }

    /**
     * Makes the store refuse operations of that kind. Advances the clock by a second each, because some are retried
     * until a deadline.
     */
    public void refuse(Operation operation, Status status) {
        session().interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request request) {
                if (request.operation() != operation) {
                    return Status.OK;
                }
                if (status.isForAnother()) {
                    clock.advanceMs(1_000);
                }
                return status;
            }
        });
    }

    public void heal() {
        session().interceptWith(new ModelSession.Interceptor() {});
    }

    @Override
    public void close() {
        provider.close();
    }
}
