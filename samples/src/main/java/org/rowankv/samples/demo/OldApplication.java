package org.rowankv.samples.demo;

import java.io.IOException;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.spi.CachingProvider;
import org.rowankv.samples.run.ProgressLine;

/**
 * The process that is replaced: fills the cache, reports that, and continues to write until its input ends or it is
 * killed. It writes the same objects again, so the final content is verifiable without knowing the last write.
 */
final class OldApplication {
    static final String CACHE = "deployed";
    static final String FILLED = "filled ";

    private OldApplication() {}

    public static void main(String[] args) throws IOException {
        final DeployedStore store = DeployedStore.ofArguments(args);
        final DerivedObjects objects = new DerivedObjects(store.seed());
        try (CachingProvider provider = Caching.getCachingProvider();
                CacheManager manager = provider.getCacheManager(store.uri(), null)) {
            manager.destroyCache(CACHE); // left by an earlier demonstration in this directory
            final Cache<String, byte[]> cache = manager.createCache(
                    CACHE, new MutableConfiguration<String, byte[]>().setTypes(String.class, byte[].class));
            System.out.println(FILLED + fill(cache, objects, store));
            for (int i = 0; System.in.available() == 0; i = (i + 1) % store.objects()) {
                final String key = DerivedObjects.key(i);
                cache.put(key, objects.value(key));
            }
        }
    }

    /** Writes all objects; returns bytes of keys and values, and nanoseconds taken. */
    private static String fill(Cache<String, byte[]> cache, DerivedObjects objects, DeployedStore store) {
        final ProgressLine progress = new ProgressLine(System.err, store.terminal(), "fill", store.objects());
        final long startNs = System.nanoTime();
        long bytes = 0;
        for (int i = 0; i < store.objects(); i++) {
            final String key = DerivedObjects.key(i);
            final byte[] value = objects.value(key);
            cache.put(key, value);
            bytes += key.length() + value.length;
            progress.advance();
        }
        return bytes + " " + (System.nanoTime() - startNs);
    }
}
