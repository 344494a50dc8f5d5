package org.rowankv.bench.jcache;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Hits that a cache of some keys could have in a sequence of operations, which does not run. As in the product, a put
 * makes the kept value useless until a get has read it anew.
 */
final class CacheOracle {
    private final int[] operations;
    private final int measuredFrom;

    /**
     * @param operations a get of the key, or a put of its complement
     * @param measuredFrom the first operation that counts
     */
    CacheOracle(int[] operations, int measuredFrom) {
        this.operations = operations;
        this.measuredFrom = measuredFrom;
    }

    /** Hits if the least recently read key is dropped. */
    int lruHits(int capacity) {
        final Map<Integer, Boolean> kept = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, Boolean> eldest) {
                return size() > capacity;
            }
        };
        int hits = 0;
        for (int i = 0; i < operations.length; i++) {
            final int operation = operations[i];
            if (operation < 0) {
                kept.replace(~operation, false);
            } else if (kept.getOrDefault(operation, false)) {
                hits += i >= measuredFrom ? 1 : 0;
            } else {
                kept.put(operation, true);
            }
        }
        return hits;
    }

    /** Hits of the best set of keys, chosen in advance and kept throughout. */
    int bestSetHits(int capacity, int keys) {
        final int[] hits = new int[keys];
        final boolean[] current = new boolean[keys];
        for (int i = 0; i < operations.length; i++) {
            final int operation = operations[i];
            if (operation < 0) {
                current[~operation] = false;
            } else {
                hits[operation] += current[operation] && i >= measuredFrom ? 1 : 0;
                current[operation] = true;
            }
        }
        Arrays.sort(hits);
        int sum = 0;
        for (int i = 0; i < capacity; i++) {
            sum += hits[keys - 1 - i];
        }
        return sum;
    }
}
