package org.rowankv.jcache.store;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The states of a store's caches, by id: one for all that use a cache at the same time, and none for an unused cache. Ids
 * are never reused, and a process may see a new one each minute for a year.
 *
 * <p>A state is referenced weakly. All that may still act through it reference it strongly, such as an operation in
 * progress while its cache is closed. So a cache that is opened again meanwhile gets the same state, and with it the same
 * locks. A count of the open caches would miss such an operation. Thread-safe.
 */
final class SharedStates {
    private static final class Held extends WeakReference<SharedCacheState> {
        private final Integer cacheId;

        Held(Integer cacheId, SharedCacheState state, ReferenceQueue<SharedCacheState> unused) {
            super(state, unused);
            this.cacheId = cacheId;
        }
    }

    private final Map<Integer, Held> byId = new ConcurrentHashMap<>();
    private final ReferenceQueue<SharedCacheState> unused = new ReferenceQueue<>();
    private final IntFunction<SharedCacheState> creation;

    /** @param creation the state of the cache of that id, of which there is none */
    SharedStates(IntFunction<SharedCacheState> creation) {
        this.creation = creation;
    }

    /** The state of a cache; a new one if it is unused. */
    SharedCacheState of(int cacheId) {
        removeUnused();
        final Held held = byId.get(cacheId);
        final SharedCacheState present = held == null ? null : held.get();
        if (present != null) {
            return present;
        }
        final SharedCacheState created = creation.apply(cacheId);
        final Held own = new Held(cacheId, created, unused);
        while (true) {
            final Held first = byId.putIfAbsent(cacheId, own);
            final @Nullable SharedCacheState found = first == null ? created : first.get();
            if (found != null) {
                return found;
            }
            byId.remove(cacheId, first); // its state was collected
        }
    }

    private void removeUnused() {
        for (Reference<?> each = unused.poll(); each != null; each = unused.poll()) {
            final Held held = (Held) each;
            byId.remove(held.cacheId, held);
        }
    }

    /** States that are used, and those that have not been collected since. */
    int count() {
        removeUnused();
        return byId.size();
    }
}
