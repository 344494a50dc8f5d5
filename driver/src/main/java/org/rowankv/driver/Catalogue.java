package org.rowankv.driver;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The caches that exist in a store, by name. An id is never used twice. Thread-safe. */
public interface Catalogue {
    /**
     * One cache.
     *
     * @param id of the cache, ≥ 1; part of every entry
     * @param descriptor opaque to the store: what the client wants to find again when it opens the cache
     */
    @SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, never compared
    record CacheRecord(int id, String name, byte[] descriptor) {}

    @Nullable
    CacheRecord find(String name);

    /** Creates a cache, or returns the one of that name that exists already, whatever its descriptor. Atomic. */
    CacheRecord create(String name, byte[] descriptor);

    /**
     * Removes a cache with all its objects; afterwards its id is refused ({@code UNKNOWN_CACHE}).
     *
     * @return false when there is none of that name
     */
    boolean destroy(String name);

    List<CacheRecord> list();
}
