package org.rowankv.jcache.cluster;

import java.net.URI;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.spi.CachingProvider;

/** Application with remote servers: uses their caches, then requests an embedded store, which must be refused. */
final class ThinApplication {
    private ThinApplication() {}

    /** Argument: the URI of the cluster. */
    public static void main(String[] args) {
        try (CachingProvider provider = Caching.getCachingProvider()) {
            try (CacheManager manager = provider.getCacheManager(URI.create(args[0]), null)) {
                final Cache<String, Integer> cache = manager.createCache(
                        "thin", new MutableConfiguration<String, Integer>().setTypes(String.class, Integer.class));
                cache.put("key", 41);
                cache.invoke("key", (entry, arguments) -> {
                    entry.setValue(entry.getValue() + 1);
                    return null;
                });
                System.out.println("value " + cache.get("key"));
            }
            try (CacheManager manager = provider.getCacheManager(URI.create("rowan:embedded"), null)) {
                System.out.println("opened " + manager.getURI());
            } catch (CacheException e) {
                System.out.println("refused: " + e.getMessage());
            }
        }
    }
}
