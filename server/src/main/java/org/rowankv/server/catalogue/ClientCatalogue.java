package org.rowankv.server.catalogue;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;

/** The catalogue of caches, as clients ask a port for it. May block; called by one thread of the port's own. */
public interface ClientCatalogue {
    @Nullable
    StoredCache find(String name);

    /** Creates a cache, or returns the one of that name that exists already. */
    StoredCache create(String name, byte[] descriptor);

    /** Gives a cache another limit, on all servers; false when there is none of that name. */
    boolean limit(String name, CacheLimit limit);

    /** Objects of the cache that this server evicted since its start. */
    long evictions(int cacheId);

    /** Removes a cache with all its objects; false when there is none of that name. */
    boolean destroy(String name);

    List<StoredCache> list();

    /**
     * Caches that a port may take for existing without a question to the catalogue, from when it goes on with this one. Of each of
     * them this server's shards have the end, if it was destroyed since that was read, and refuse it. Does not block.
     */
    default List<StoredCache> known() {
        return List.of();
    }
}
