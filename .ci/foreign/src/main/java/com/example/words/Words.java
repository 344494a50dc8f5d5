package com.example.words;

import java.net.URI;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import org.rowankv.jcache.RowanCache;

/** Counts its runs in the store in the given directory. */
public final class Words {
    private Words() {}

    public static void main(String[] arguments) {
        final URI uri = URI.create("rowan:embedded?capacity=16m&dir=" + arguments[0]);
        try (CacheManager manager = Caching.getCachingProvider().getCacheManager(uri, null)) {
            final Cache<String, Integer> cache = manager.createCache(
                    "words", new MutableConfiguration<String, Integer>().setTypes(String.class, Integer.class));
            final Integer runs = cache.get("runs");
            cache.put("runs", runs == null ? 1 : runs + 1);
            System.out.println("foreign: module=" + Words.class.getModule().isNamed() + " provider="
                    + RowanCache.class.getModule().getName() + " runs=" + cache.get("runs"));
        }
    }
}
