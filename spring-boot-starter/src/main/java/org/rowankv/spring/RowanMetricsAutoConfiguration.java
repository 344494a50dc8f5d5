package org.rowankv.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import javax.cache.Cache;
import org.rowankv.jcache.RowanCacheManager;
import org.rowankv.micrometer.RowanCacheMetrics;
import org.rowankv.micrometer.RowanStoreMetrics;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.metrics.cache.CacheMetricsAutoConfiguration;
import org.springframework.boot.actuate.metrics.cache.CacheMeterBinderProvider;
import org.springframework.boot.actuate.metrics.cache.CacheMetricsRegistrar;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Meters of the caches and of the store, with Micrometer and Actuator. */
@AutoConfiguration(after = RowanAutoConfiguration.class, before = CacheMetricsAutoConfiguration.class)
@ConditionalOnClass({MeterRegistry.class, CacheMeterBinderProvider.class, CacheMetricsAutoConfiguration.class})
@ConditionalOnSingleCandidate(RowanCacheManager.class)
public class RowanMetricsAutoConfiguration {
    /** The tag of Spring Boot for the bean that a cache belongs to. */
    private static final Tag MANAGER = Tag.of("cache.manager", "cacheManager");

    /** For the application context. */
    public RowanMetricsAutoConfiguration() {}

    @Bean
    CacheMeterBinderProvider<RowanSpringCache> rowanCacheMeterBinderProvider() {
        return (cache, tags) -> {
            final Cache<?, ?> caches = cache.getNativeCache();
            caches.getCacheManager().enableStatistics(caches.getName(), true);
            return new RowanCacheMetrics(caches, tags);
        };
    }

    /** Spring Boot binds the caches that are there at the start. */
    @Bean
    CacheCreationListener rowanCacheMeters(ObjectProvider<CacheMetricsRegistrar> registrars) {
        return cache -> registrars.ifAvailable(registrar -> registrar.bindCacheToRegistry(cache, MANAGER));
    }

    @Bean
    @ConditionalOnMissingBean
    RowanStoreMetrics rowanStoreMetrics(RowanCacheManager manager) {
        return new RowanStoreMetrics(manager, Tags.empty());
    }
}
