package org.rowankv.samples.micronaut;

import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Value;
import jakarta.inject.Singleton;
import java.net.URI;
import javax.cache.CacheManager;
import javax.cache.Caching;

/** The JCache manager that Micronaut's cacheable methods use. */
@Factory
final class Caches {
    /** The store decides by its templates which caches the first use creates. */
    @Singleton
    @Bean(preDestroy = "close")
    CacheManager manager(@Value("${caches.uri}") String uri) {
        return Caching.getCachingProvider().getCacheManager(URI.create(uri), Caches.class.getClassLoader());
    }
}
