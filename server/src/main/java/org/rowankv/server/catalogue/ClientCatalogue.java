package org.rowankv.server.catalogue;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;

/** The catalogue of caches for the clients of a port. May block; called by the port's catalogue thread. */
public interface ClientCatalogue {
    @Nullable
    StoredCache find(String name);

    /** Creates a cache, or returns the existing one of that name. */
    StoredCache create(String name, byte[] descriptor);

    /** Sets the limit of a cache, on all servers; false if there is none of that name. */
    boolean limit(String name, CacheLimit limit);

    /** Objects of the cache evicted by this server since its start. */
    long evictions(int cacheId);

    /** Objects of the cache in this server's primary shards. */
    long objects(int cacheId);

    /** Their charged bytes. */
    long bytes(int cacheId);

    /** Removes a cache with all its objects; false if there is none of that name. */
    boolean destroy(String name);

    List<StoredCache> list();

    /**
     * Caches that a port may assume to exist without a lookup, from the switch to this catalogue on. If one was
     * destroyed since, this server's shards have its end and refuse it. Does not block.
     */
    default List<StoredCache> known() {
        return List.of();
    }
}
