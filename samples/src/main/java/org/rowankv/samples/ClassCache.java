package org.rowankv.samples;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.spi.CachingProvider;

/** The cache of the quickstart: plain JCache from here on; what is Rowan-KV's stands in the URI. */
final class ClassCache implements AutoCloseable {
    static final int SERVERS = 3;
    static final int REPLICAS = 3;
    private static final String NAME = "classes";

    private final CachingProvider provider;
    private final CacheManager manager;

    ClassCache(Path directory, long capacityBytes) {
        this.provider = Caching.getCachingProvider();
        this.manager = provider.getCacheManager(uri(directory, capacityBytes), null);
    }

    private static URI uri(Path directory, long capacityBytes) {
        return URI.create(
                "rowan:embedded?servers=" + SERVERS + "&replicas=" + REPLICAS + "&capacity=" + capacityBytes + "&dir="
                        + URLEncoder.encode(directory.toString(), StandardCharsets.UTF_8)
                                .replace("+", "%20"));
    }

    /** The cache, new and empty. */
    Cache<String, byte[]> create() {
        manager.destroyCache(NAME);
        return open();
    }

    /** The cache with what the store holds of it. */
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
