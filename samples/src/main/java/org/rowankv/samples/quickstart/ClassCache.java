package org.rowankv.samples.quickstart;

import java.net.URI;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.spi.CachingProvider;

/** The cache of the quickstart: plain JCache; everything specific to Rowan-KV is in the URI. */
final class ClassCache implements AutoCloseable {
    private static final String NAME = "classes";

    private final CachingProvider provider;
    private final CacheManager manager;

    ClassCache(URI uri) {
        this.provider = Caching.getCachingProvider();
        this.manager = provider.getCacheManager(uri, null);
    }

    Cache<String, byte[]> create() {
        manager.destroyCache(NAME);
        return open();
    }

    /** Opens the cache with the content of the store. */
    Cache<String, byte[]> open() {
        return manager.createCache(
                NAME, new MutableConfiguration<String, byte[]>().setTypes(String.class, byte[].class));
    }

    CacheManager manager() {
        return manager;
    }

    @Override
    public void close() {
        provider.close();
    }
}
