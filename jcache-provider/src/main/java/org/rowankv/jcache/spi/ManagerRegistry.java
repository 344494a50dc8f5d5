package org.rowankv.jcache.spi;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.CloseSequence;
import org.rowankv.jcache.RowanCacheManager;

/**
 * Registry of open managers by class loader and URI. References class loaders weakly; the next call after a loader's
 * collection closes its managers. Thread-safe: guarded by a lock under which managers open, and none closes.
 */
final class ManagerRegistry {
    /** The managers of one class loader. */
    private static final class Tenant extends WeakReference<ClassLoader> {
        private final Map<URI, RowanCacheManager> managers = new HashMap<>();

        Tenant(ClassLoader loader, ReferenceQueue<ClassLoader> queue) {
            super(loader, queue);
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final List<Tenant> tenants = new ArrayList<>();
    private final ReferenceQueue<ClassLoader> collected = new ReferenceQueue<>();

    /**
     * The manager, created if missing.
     *
     * @param factory creates a manager, which calls the given consumer when it has closed
     */
    RowanCacheManager get(
            URI uri, ClassLoader loader, Function<Consumer<RowanCacheManager>, RowanCacheManager> factory) {
        closeOrphans();
        lock.lock();
        try {
            Tenant tenant = find(loader);
            final RowanCacheManager present = tenant == null ? null : tenant.managers.get(uri);
            if (present != null && !present.isClosed()) {
                return present;
            }
            final RowanCacheManager created = factory.apply(this::forget);
            if (tenant == null) {
                tenant = new Tenant(loader, collected);
                tenants.add(tenant);
            }
            tenant.managers.put(uri, created);
            return created;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Tenant find(ClassLoader loader) {
        for (Tenant tenant : tenants) {
            if (tenant.refersTo(loader)) {
                return tenant;
            }
        }
        return null;
    }

    private void forget(RowanCacheManager closed) {
        lock.lock();
        try {
            for (Iterator<Tenant> each = tenants.iterator(); each.hasNext(); ) {
                final Tenant tenant = each.next();
                tenant.managers.remove(closed.getURI(), closed);
                if (tenant.managers.isEmpty()) {
                    each.remove();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void closeOrphans() {
        for (Reference<?> dead = collected.poll(); dead != null; dead = collected.poll()) {
            if (dead instanceof Tenant tenant) {
                closeAll(managersOf(tenant));
            }
        }
    }

    private List<RowanCacheManager> managersOf(@Nullable Tenant tenant) {
        lock.lock();
        try {
            return tenant == null ? List.of() : List.copyOf(tenant.managers.values());
        } finally {
            lock.unlock();
        }
    }

    private static void closeAll(List<RowanCacheManager> managers) {
        final CloseSequence closing = new CloseSequence();
        managers.forEach(manager -> closing.step(manager::close));
        closing.finish();
    }

    void closeAll() {
        closeOrphans();
        final List<RowanCacheManager> all = new ArrayList<>();
        lock.lock();
        try {
            tenants.forEach(tenant -> all.addAll(tenant.managers.values()));
        } finally {
            lock.unlock();
        }
        closeAll(all);
    }

    void close(ClassLoader loader) {
        closeOrphans();
        final List<RowanCacheManager> all;
        lock.lock();
        try {
            all = managersOf(find(loader));
        } finally {
            lock.unlock();
        }
        closeAll(all);
    }

    void close(URI uri, ClassLoader loader) {
        closeOrphans();
        final RowanCacheManager manager;
        lock.lock();
        try {
            final Tenant tenant = find(loader);
            manager = tenant == null ? null : tenant.managers.get(uri);
        } finally {
            lock.unlock();
        }
        if (manager != null) {
            manager.close();
        }
    }
}
