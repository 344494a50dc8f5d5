package org.rowankv.driver.api;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;

/** The caches of a store, by name. An id is never reused. Thread-safe. */
public interface Catalogue {
    /**
     * One cache.
     *
     * @param id of the cache, ≥ 1; part of every entry
     * @param descriptor opaque to the store; the client reads it back when it opens the cache
     * @param limit above which the store evicts objects of the cache
     */
    @SuppressWarnings("ArrayRecordComponent") // carries bytes, never compared
    record CacheRecord(int id, String name, byte[] descriptor, CacheLimit limit) {}

    @Nullable
    CacheRecord find(String name);

    /**
     * Creates a cache without a limit, or returns the existing one of that name, regardless of its descriptor and
     * limit. Atomic.
     */
    CacheRecord create(String name, byte[] descriptor);

    /**
     * Sets or removes the limit of an existing cache, for all its clients; the catalogue stores it. Objects above the
     * new limit are evicted soon.
     *
     * @return false if no cache has that name
     */
    boolean limit(String name, CacheLimit limit);

    /**
     * Exact number of evicted objects of the cache since its servers started; each counts once its eviction takes
     * effect.
     */
    long evictions(int cacheId);

    /** Number of objects of the cache now; those that have expired or were cleared count until they are swept. */
    long objects(int cacheId);

    /** Bytes that these objects occupy in the log of one replica. */
    long bytes(int cacheId);

    /**
     * Removes a cache with all its objects; afterwards its id is refused ({@code UNKNOWN_CACHE}).
     *
     * @return false if no cache has that name
     */
    boolean destroy(String name);

    List<CacheRecord> list();
}
