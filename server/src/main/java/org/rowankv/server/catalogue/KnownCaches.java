package org.rowankv.server.catalogue;

import java.util.BitSet;
import java.util.List;

/**
 * The ids of caches that the catalogue has given out, as far as this port has read it since the server got its roles. Ids are never
 * reused, so what is in here stays right until the roles end; a cache that was destroyed since is refused by its shards. These
 * remember that as long as the roles: afterwards the log may have lost the entry that destroyed the cache, so new roles begin with
 * what the catalogue has then. A server keeps arrays by cache id: an id from a client that no catalogue gave out must not reach them.
 *
 * <p>Reads are two loads; any thread.
 */
final class KnownCaches {
    private volatile long[] words = {1}; // 0: of requests that concern no cache

    boolean contains(int cacheId) {
        final long[] now = words;
        final int word = cacheId >>> 6;
        return cacheId >= 0 && word < now.length && (now[word] >>> cacheId & 1) != 0;
    }

    synchronized void add(List<StoredCache> caches) {
        final BitSet next = BitSet.valueOf(words);
        caches.forEach(cache -> next.set(cache.id()));
        words = next.toLongArray();
    }
}
