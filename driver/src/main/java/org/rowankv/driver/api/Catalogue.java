package org.rowankv.driver.api;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;

/** The caches that exist in a store, by name. An id is never used twice. Thread-safe. */
public interface Catalogue {
    /**
     * One cache.
     *
     * @param id of the cache, ≥ 1; part of every entry
     * @param descriptor opaque to the store: what the client wants to find again when it opens the cache
     * @param limit above which objects of the cache are evicted
     */
    @SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, never compared
    record CacheRecord(int id, String name, byte[] descriptor, CacheLimit limit) {}

    @Nullable
    CacheRecord find(String name);

    /**
     * Creates a cache without a limit, or returns the one of that name that exists already, whatever its descriptor and
     * limit. Atomic.
     */
    CacheRecord create(String name, byte[] descriptor);

    /**
     * Gives an existing cache another limit, or none, for everybody who uses it; it is remembered with the cache. What is
     * above the new limit is evicted soon.
     *
     * @return false when there is none of that name
     */
    boolean limit(String name, CacheLimit limit);

    /** How many objects of the cache have been evicted since its servers started: exact, counted as each takes effect. */
    long evictions(int cacheId);

    /**
     * Removes a cache with all its objects; afterwards its id is refused ({@code UNKNOWN_CACHE}).
     *
     * @return false when there is none of that name
     */
    boolean destroy(String name);

    List<CacheRecord> list();
}
