package org.rowankv.jcache.store;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.event.CallbackThreads;

/** A store shared by several managers, with the shared state of its caches. Closes with its last user. Thread-safe. */
public final class SharedStore {
    private final Store store;
    private final String identity;
    private final String settingsText;
    private final SharedStates states;
    /** Held while a cache is cleared for those that open it. */
    private final ReentrantLock clearing = new ReentrantLock();
    /** Caches opened since the store was. Guarded by {@link #clearing}. */
    private final Set<Integer> opened = new HashSet<>();

    /** Guarded by {@link SharedStores}. */
    private int users;

    SharedStore(Store store, String identity, String settingsText, CallbackThreads callbacks) {
        this.store = store;
        this.identity = identity;
        this.settingsText = settingsText;
        this.states = new SharedStates(id -> SharedCacheState.with(callbacks, store.client(), id));
    }

    public Store store() {
        return store;
    }

    String identity() {
        return identity;
    }

    String settingsText() {
        return settingsText;
    }

    /** The same as long as anybody in this JVM holds it, so each user of the cache keeps it while it may act on it. */
    public SharedCacheState sharedState(int cacheId) {
        return states.of(cacheId);
    }

    SharedStates states() {
        return states;
    }

    /** Forgets a destroyed cache. */
    public void forget(int cacheId) {
        clearing.lock();
        try {
            opened.remove(cacheId);
        } finally {
            clearing.unlock();
        }
        generations(false).forget(cacheId);
    }

    private Generations generations(boolean isAlone) {
        return new Generations(store.client(), store.clock(), isAlone);
    }

    /**
     * Clears a cache that is being opened, if its content must not be kept. On return no client clears it any more that
     * opens it with the same generation.
     *
     * @param isAlone whether no other process uses the store
     * @param isFresh whether the first opening clears the cache
     * @param generation whose change clears the cache; null if it has none
     */
    public void prepare(String cacheName, int cacheId, boolean isAlone, boolean isFresh, @Nullable String generation) {
        clearing.lock();
        try {
            if (opened.add(cacheId) && isFresh) {
                store.client().clear(cacheId);
            }
            if (generation != null) {
                generations(isAlone).ensure(cacheName, cacheId, generation);
            }
        } finally {
            clearing.unlock();
        }
    }

    void retain() {
        users++;
    }

    /** Whether that was the last user. */
    boolean release() {
        return --users == 0;
    }
}
