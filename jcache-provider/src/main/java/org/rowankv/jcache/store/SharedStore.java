package org.rowankv.jcache.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.rowankv.jcache.event.CallbackThreads;

/** A store shared by several managers, with the shared state of its caches. Closes with its last user. Thread-safe. */
public final class SharedStore {
    private final Store store;
    private final String identity;
    private final String settingsText;
    private final CallbackThreads callbacks;
    private final Map<Integer, SharedCacheState> sharedState = new ConcurrentHashMap<>();
    /** Guarded by {@link SharedStores}. */
    private int users;

    SharedStore(Store store, String identity, String settingsText, CallbackThreads callbacks) {
        this.store = store;
        this.identity = identity;
        this.settingsText = settingsText;
        this.callbacks = callbacks;
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

    public SharedCacheState sharedState(int cacheId) {
        return sharedState.computeIfAbsent(cacheId, id -> SharedCacheState.with(callbacks, store.client(), id));
    }

    public void forget(int cacheId) {
        sharedState.remove(cacheId);
    }

    void retain() {
        users++;
    }

    /** Whether that was the last user. */
    boolean release() {
        return --users == 0;
    }
}
