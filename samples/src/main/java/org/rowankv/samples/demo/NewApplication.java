package org.rowankv.samples.demo;

import java.util.Arrays;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.spi.CachingProvider;
import org.rowankv.samples.run.ProgressLine;

/** The process that takes over: opens the cache, gets one object, then checks all of them by key and by iterator. */
final class NewApplication {
    static final String OPEN = "open";
    static final String FIRST = "first";
    static final String VERIFIED = "verified ";

    private NewApplication() {}

    public static void main(String[] args) {
        final DeployedStore store = DeployedStore.ofArguments(args);
        try (CachingProvider provider = Caching.getCachingProvider();
                CacheManager manager = provider.getCacheManager(store.uri(), null)) {
            final Cache<String, byte[]> cache = manager.createCache(
                    OldApplication.CACHE,
                    new MutableConfiguration<String, byte[]>().setTypes(String.class, byte[].class));
            System.out.println(OPEN);
            cache.get(DerivedObjects.key(store.objects() / 2));
            System.out.println(FIRST);
            System.out.println(VERIFIED + check(cache, store).toWords());
        }
    }

    /** Gets every object by key, then iterates over all. */
    static Findings check(Cache<String, byte[]> cache, DeployedStore store) {
        final DerivedObjects objects = new DerivedObjects(store.seed());
        final ProgressLine progress = new ProgressLine(System.err, store.terminal(), "verify", store.objects());
        long verified = 0;
        long missing = 0;
        for (int i = 0; i < store.objects(); i++) {
            final String key = DerivedObjects.key(i);
            final byte[] value = cache.get(key);
            if (value == null) {
                missing++;
            } else if (Arrays.equals(value, objects.value(key))) {
                verified++;
            }
            progress.advance();
        }
        long listed = 0;
        for (Cache.Entry<String, byte[]> entry : cache) {
            if (Arrays.equals(entry.getValue(), objects.value(entry.getKey()))) {
                listed++;
            }
        }
        return new Findings(verified, missing, listed);
    }

    /**
     * @param verified keys with the expected value
     * @param missing keys without a value
     * @param listed entries of the iterator with the expected value
     */
    record Findings(long verified, long missing, long listed) {
        static final Findings NONE = new Findings(0, 0, 0);

        String toWords() {
            return verified + " " + missing + " " + listed;
        }

        static Findings ofWords(String words) {
            final String[] numbers = words.split(" ");
            return new Findings(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]), Long.parseLong(numbers[2]));
        }
    }
}
