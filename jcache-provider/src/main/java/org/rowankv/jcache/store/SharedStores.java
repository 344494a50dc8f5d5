package org.rowankv.jcache.store;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import javax.cache.CacheException;
import org.rowankv.jcache.configuration.StoreSettings;
import org.rowankv.jcache.event.CallbackThreads;

/**
 * The open stores of one caching provider, by identity: managers whose settings name the same store share it, and the
 * last one to close closes it. Thread-safe.
 */
public final class SharedStores {
    private final StoreOpener opener;
    private final CallbackThreads callbacks = new CallbackThreads();
    /** Held while a store opens or closes. */
    private final ReentrantLock opening = new ReentrantLock();

    private final Map<String, SharedStore> stores = new HashMap<>();

    public SharedStores(StoreOpener opener) {
        this.opener = opener;
    }

    public SharedStore acquire(StoreSettings given) {
        opening.lock();
        try {
            final StoreSettings settings = opener.complete(given);
            final String identity = settings.storeIdentity();
            SharedStore shared = stores.get(identity);
            if (shared == null) {
                final Store store = opener.open(settings);
                // A new store has been made only now.
                final String text = opener.complete(settings).storeText();
                shared = new SharedStore(store, identity, text, callbacks);
                stores.put(identity, shared);
            } else if (!shared.settingsText().equals(settings.storeText())) {
                throw new CacheException("the store is open with other settings: " + shared.settingsText() + ", not "
                        + settings.storeText());
            }
            shared.retain();
            return shared;
        } finally {
            opening.unlock();
        }
    }

    public void release(SharedStore shared) {
        opening.lock();
        try {
            if (shared.release()) {
                stores.remove(shared.identity());
                shared.store().close();
            }
        } finally {
            opening.unlock();
        }
    }
}
