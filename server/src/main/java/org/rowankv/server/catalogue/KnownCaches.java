package org.rowankv.server.catalogue;

import java.util.BitSet;
import java.util.List;
import org.rowankv.protocol.Parts;

/**
 * The ids assigned by the catalogue, according to this port's readings in the present roles. Ids are never reused, so
 * the set stays valid until the roles end; the shards refuse a cache destroyed since. They remember that only as long
 * as the roles: afterwards the log may have lost the destroying entry, so new roles start with the present catalogue. A
 * replica that joins during the roles learns from its primary which caches were destroyed before. A server keeps arrays
 * by cache id: an unassigned id from a client must not reach them.
 *
 * <p>A lookup is two loads; thread-safe.
 */
final class KnownCaches {
    private volatile long[] words = {1}; // 0: requests without a cache

    boolean contains(int id) {
        final int cacheId = Parts.cacheOf(id);
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
