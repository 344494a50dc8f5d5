package org.rowankv.samples.plain;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.expiry.Duration;
import javax.cache.expiry.ModifiedExpiryPolicy;
import javax.cache.processor.EntryProcessor;

/**
 * Counts the words of its arguments beside those of earlier runs. {@code java ... WordCount rowan:embedded?dir=/tmp/words
 * to be or not to be}
 */
public final class WordCount {
    private static final EntryProcessor<String, Integer, Integer> COUNT = (entry, arguments) -> {
        final int count = (entry.exists() ? entry.getValue() : 0) + 1;
        entry.setValue(count);
        return count;
    };

    private WordCount() {}

    public static void main(String[] arguments) {
        if (arguments.length == 0) {
            System.err.println("usage: WordCount URI WORD...");
            System.exit(2);
        }
        System.out.println(count(URI.create(arguments[0]), List.of(arguments).subList(1, arguments.length)));
    }

    /** Counts the words in the store and returns all counts, sorted by word. */
    static Map<String, Integer> count(URI store, List<String> words) {
        try (CacheManager manager = Caching.getCachingProvider().getCacheManager(store, null)) {
            final MutableConfiguration<String, Integer> configuration = new MutableConfiguration<String, Integer>()
                    .setTypes(String.class, Integer.class)
                    .setExpiryPolicyFactory(ModifiedExpiryPolicy.factoryOf(new Duration(TimeUnit.DAYS, 30)));
            final Cache<String, Integer> counts = manager.createCache("words", configuration);
            words.forEach(word -> counts.invoke(word, COUNT));
            final Map<String, Integer> all = new TreeMap<>();
            counts.forEach(entry -> all.put(entry.getKey(), entry.getValue()));
            return all;
        }
    }
}
