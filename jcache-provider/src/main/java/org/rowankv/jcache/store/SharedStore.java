package org.rowankv.jcache.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.rowankv.jcache.event.CallbackThreads;

/** A store that several managers use, with what the openings of its caches share. Ends with its last user. Thread-safe. */
public final class SharedStore {
    private final Store store;
    private final String identity;
    private final String settingsText;
    private final CallbackThreads callbacks;
    private final Map<Integer, SharedCacheState> rendezvous = new ConcurrentHashMap<>();
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

    public SharedCacheState rendezvous(int cacheId) {
        return rendezvous.computeIfAbsent(cacheId, id -> SharedCacheState.with(callbacks, store.client(), id));
    }

    public void forget(int cacheId) {
        rendezvous.remove(cacheId);
    }

    void use() {
        users++;
    }

    /** Whether that was the last user. */
    boolean release() {
        return --users == 0;
    }
}
