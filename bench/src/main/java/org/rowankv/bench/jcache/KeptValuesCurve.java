package org.rowankv.bench.jcache;

import java.io.PrintStream;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import org.rowankv.bench.report.KeyDraws;
import org.rowankv.jcache.management.RowanCacheStatisticsMXBean;
import org.rowankv.jcache.spi.RowanCachingProvider;

/**
 * What values kept in front of the store save, the cache curve of AsymNVM: requests per operation if 0, 1, 10 and 50 % of
 * the objects are kept, at 95 % gets and Zipf 0.99, beside what caches of that size could save. Counts, no times. The
 * store is embedded: over a network nothing is kept.
 */
public final class KeptValuesCurve {
    private static final List<Integer> PERCENTS = List.of(0, 1, 10, 50);
    private static final double THETA = 0.99;
    private static final int GET_PERCENT = 95;
    private static final int WARM_UP_PER_KEY = 4;
    private static final int MEASURED_PER_KEY = 8;
    /** Of all gets. */
    private static final double SLACK = 0.01;

    private static final int COMPARED = 10;
    private static final double MOST_REQUESTS = 1 / 3.0;

    private static final String CACHE = "kept";
    private static final String VALUE = "v".repeat(100);
    /** What the product counts for one: the entry, the key of 20 characters, the value. */
    private static final int KEPT_BYTES = 256 + 20 + 48 + VALUE.length();

    private final PrintStream out;
    private final String[] keys;
    private final int[] operations;
    private final int measuredFrom;
    private int bars;
    private int missed;

    /** @param keyCount objects in the cache */
    public KeptValuesCurve(PrintStream out, int keyCount) {
        this.out = out;
        this.keys = CacheOpening.keys(keyCount);
        this.measuredFrom = WARM_UP_PER_KEY * keyCount;
        this.operations = new int[measuredFrom + MEASURED_PER_KEY * keyCount];
        final KeyDraws draws = KeyDraws.zipf(keyCount, THETA);
        final SplittableRandom kinds = new SplittableRandom(5);
        for (int i = 0; i < operations.length; i++) {
            final int key = draws.next();
            operations[i] = kinds.nextInt(100) < GET_PERCENT ? key : ~key;
        }
    }

    /** Runs, prints a line for each size, and judges. */
    public void run() {
        final CacheOracle oracle = new CacheOracle(operations, measuredFrom);
        final double measured = operations.length - measuredFrom;
        final double gets = gets();
        double before = Double.MAX_VALUE;
        for (int percent : PERCENTS) {
            final int capacity = keys.length * percent / 100;
            final long hits = hits(capacity);
            final double lru = oracle.lruHits(capacity) / gets;
            final double best = oracle.bestSetHits(capacity, keys.length) / gets;
            final double requests = 1 - hits / measured;
            out.printf(
                    Locale.ROOT,
                    "  %2d %% kept  %5.1f %% of gets hit (LRU %5.1f, best set %5.1f)  %5.3f requests per operation%n",
                    percent,
                    100 * hits / gets,
                    100 * lru,
                    100 * best,
                    requests);
            bar("no fewer hits than LRU", hits / gets >= lru - SLACK);
            bar("no more hits than are possible", hits / gets <= best + SLACK);
            bar("fewer requests than with less", requests < before);
            if (percent == COMPARED) {
                bar("at most a third of the requests", requests <= MOST_REQUESTS);
            }
            before = requests;
        }
    }

    private void bar(String what, boolean met) {
        bars++;
        if (!met) {
            missed++;
            out.println("    MISSED: " + what);
        }
    }

    private double gets() {
        int gets = 0;
        for (int i = measuredFrom; i < operations.length; i++) {
            gets += operations[i] >= 0 ? 1 : 0;
        }
        return gets;
    }

    /** Gets answered without a request, after the warm-up, with room for so many values. */
    private long hits(int capacity) {
        final String near =
                capacity == 0 ? "off" : "validated&template." + CACHE + ".near-bytes=" + (long) capacity * KEPT_BYTES;
        final URI uri = URI.create("rowan:embedded?name=kept-" + capacity + "&template." + CACHE + ".near=" + near);
        try (CacheManager manager =
                Caching.getCachingProvider(RowanCachingProvider.class.getName()).getCacheManager(uri, null)) {
            final Cache<String, String> cache = manager.createCache(
                    CACHE,
                    new MutableConfiguration<String, String>()
                            .setTypes(String.class, String.class)
                            .setStatisticsEnabled(true));
            for (String key : keys) {
                cache.put(key, VALUE);
            }
            operate(cache, 0, measuredFrom);
            final RowanCacheStatisticsMXBean statistics = cache.unwrap(RowanCacheStatisticsMXBean.class);
            final long before = statistics.getNearCacheHits();
            operate(cache, measuredFrom, operations.length);
            return statistics.getNearCacheHits() - before;
        }
    }

    private void operate(Cache<String, String> cache, int from, int to) {
        for (int i = from; i < to; i++) {
            if (operations[i] < 0) {
                cache.put(keys[~operations[i]], VALUE);
            } else if (cache.get(keys[operations[i]]) == null) {
                throw new IllegalStateException("an object is missing");
            }
        }
    }

    public int bars() {
        return bars;
    }

    public int missed() {
        return missed;
    }
}
