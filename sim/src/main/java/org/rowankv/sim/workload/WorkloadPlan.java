package org.rowankv.sim.workload;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.runtime.RandomSource;

/**
 * Parameters of the clients' operations, by seed.
 *
 * @param keys of all caches together: key k belongs to cache k modulo their number
 * @param caches the limit of each
 * @param clearOneIn one operation in this many is a clear
 * @param ttlPerMille writes of values with a lifetime; as many keep the lifetime of the replaced object
 * @param touches whether lifetimes are changed: by touches, and by accesses where there are lifetimes
 * @param longestMs exclusive upper bound of lifetimes
 */
public record WorkloadPlan(
        int keys, List<CacheLimit> caches, int clearOneIn, int ttlPerMille, boolean touches, int longestMs) {
    private static final int MOST_CACHES = 4;

    /**
     * The limits of caches that share this many keys. Most runs have none, because an eviction hides other causes of an
     * object's end.
     *
     * @param valueLength upper bound of most values' lengths
     * @param many whether to use as many caches as possible, most of them with limits
     */
    public static List<CacheLimit> limits(RandomSource random, int keys, int valueLength, boolean many) {
        final int count = Math.min(keys / 2, many ? MOST_CACHES : 1 + random.nextInt(MOST_CACHES));
        final boolean limited = many || random.nextInt(5) < 2;
        final long entries = 1L + keys / count / 3;
        final List<CacheLimit> limits = new ArrayList<>();
        for (int cache = 0; cache < count; cache++) {
            limits.add(
                    switch (limited ? (cache + random.nextInt(2)) % 3 : 0) {
                        case 1 -> new CacheLimit(entries, CacheLimit.NO_LIMIT);
                        case 2 -> new CacheLimit(CacheLimit.NO_LIMIT, entries * valueLength);
                        default -> CacheLimit.NONE;
                    });
        }
        return List.copyOf(limits);
    }

    /** Whether objects of the first cache may end without an operation. */
    public boolean hidesEnds() {
        return ttlPerMille > 0 || touches || !caches.get(0).isNone();
    }

    static String nameOf(int cache) {
        return "sim " + cache;
    }

    int cacheOf(int key) {
        return key % caches.size();
    }

    /** The number of keys of a cache. */
    int keysOf(int cache) {
        return (keys - cache + caches.size() - 1) / caches.size();
    }
}
