package org.rowankv.jcache;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rowankv.jcache.integration.BackgroundThreads;
import org.rowankv.jcache.management.ShownBean;
import org.rowankv.jcache.store.SharedStore;
import org.rowankv.jcache.store.SharedStores;

/**
 * What a cache manager holds beyond the heap: its use of the store, its threads, its MXBeans. Refers to nothing of the
 * application, so it outlives a manager that is collected with the application's class loader, to be released then.
 * Thread-safe.
 */
public final class ManagerResources {
    private final SharedStores stores;
    private final SharedStore store;
    private final BackgroundThreads threads;
    private final Set<ShownBean> beans = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean released = new AtomicBoolean();

    ManagerResources(SharedStores stores, SharedStore store, BackgroundThreads threads) {
        this.stores = stores;
        this.store = store;
        this.threads = threads;
    }

    /** The bean of a cache that opens. */
    ShownBean bean(String type, String managerUri, String cacheName) {
        final ShownBean bean = new ShownBean(type, managerUri, cacheName);
        beans.add(bean);
        return bean;
    }

    /** The bean of a cache that closes. */
    void hide(ShownBean bean) {
        beans.remove(bean);
        bean.hide();
    }

    /** Releases all; only the first call has an effect. Running and queued tasks are completed. */
    public void release() {
        if (!released.compareAndSet(false, true)) {
            return;
        }
        final CloseSequence closing = new CloseSequence();
        beans.forEach(bean -> closing.step(() -> hide(bean)));
        closing.step(threads::close).step(() -> stores.release(store)).finish();
    }
}
