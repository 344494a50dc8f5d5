package org.rowankv.bench.jcache;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import org.rowankv.bench.report.KeySpace;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** Store configuration of the cache-layer benchmarks: one server, default settings, in memory. */
final class CacheOpening {
    private CacheOpening() {}

    static CacheManager manager() {
        return Caching.getCachingProvider(RowanCachingProvider.class.getName())
                .getCacheManager(URI.create("rowan:embedded?name=bench"), null);
    }

    static <V> Cache<String, V> cache(CacheManager manager, String name, Class<V> valueType) {
        return manager.createCache(name, new MutableConfiguration<String, V>().setTypes(String.class, valueType));
    }

    /** Returns fresh String instances at each call. */
    static String[] keys(int count) {
        return Arrays.stream(KeySpace.keys(count))
                .map(key -> new String(key, StandardCharsets.ISO_8859_1))
                .toArray(String[]::new);
    }

    /** Entry processor that increments a number, starting at one. */
    static final class Increment implements javax.cache.processor.EntryProcessor<String, Long, Long> {
        @Override
        public Long process(javax.cache.processor.MutableEntry<String, Long> entry, Object... arguments) {
            final Long old = entry.getValue();
            final Long next = old == null ? 1 : old + 1;
            entry.setValue(next);
            return next;
        }
    }
}
