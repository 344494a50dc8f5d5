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
import org.rowankv.jcache.ManagerResources;
import org.rowankv.jcache.RowanCacheManager;

/**
 * Registry of open managers by class loader and URI. References class loaders and managers weakly: a manager stays as long
 * as its class loader, see {@link LoaderAnchor}, or anything else that references it. The next call after a loader's
 * collection closes its managers, or releases what is left of those that were collected with it.
 *
 * <p>What is collected cannot be closed: the policies, loaders, writers and listeners of such caches are not, and a change
 * stream that served their listeners goes on until its store is closed. Nor can this library keep a class loader from being
 * kept by the registry of providers in {@link javax.cache.Caching}, if that loader has this library itself.
 *
 * <p>Thread-safe: guarded by a lock under which managers open, and none closes.
 */
final class ManagerRegistry {
    /** The managers of one class loader. */
    private static final class Tenant extends WeakReference<ClassLoader> {
        private final Map<URI, Opened> managers = new HashMap<>();

        Tenant(ClassLoader loader, ReferenceQueue<ClassLoader> queue) {
            super(loader, queue);
        }
    }

    /** A manager, and what outlives it. */
    private static final class Opened {
        private final WeakReference<RowanCacheManager> manager;
        private final ManagerResources resources;

        Opened(RowanCacheManager manager) {
            this.manager = new WeakReference<>(manager);
            this.resources = manager.resources();
        }

        void close() {
            final RowanCacheManager present = manager.get();
            if (present == null) {
                resources.release();
            } else {
                present.close();
            }
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
            final Opened opened = tenant == null ? null : tenant.managers.get(uri);
            final RowanCacheManager present = opened == null ? null : opened.manager.get();
            if (present != null && !present.isClosed()) {
                return present;
            }
            final RowanCacheManager created = factory.apply(this::forget);
            if (tenant == null) {
                tenant = new Tenant(loader, collected);
                tenants.add(tenant);
            }
            LoaderAnchor.keep(loader, created);
            tenant.managers.put(uri, new Opened(created));
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
                final Opened opened = tenant.managers.get(closed.getURI());
                if (opened != null && opened.manager.refersTo(closed)) {
                    tenant.managers.remove(closed.getURI());
                }
                final ClassLoader loader = tenant.get();
                if (loader != null) {
                    LoaderAnchor.release(loader, closed);
                }
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
                closeAll(leave(tenant));
            }
        }
    }

    private List<Opened> leave(Tenant tenant) {
        lock.lock();
        try {
            tenants.remove(tenant);
            return List.copyOf(tenant.managers.values());
        } finally {
            lock.unlock();
        }
    }

    private List<Opened> managersOf(@Nullable Tenant tenant) {
        lock.lock();
        try {
            return tenant == null ? List.of() : List.copyOf(tenant.managers.values());
        } finally {
            lock.unlock();
        }
    }

    private static void closeAll(List<Opened> managers) {
        final CloseSequence closing = new CloseSequence();
        managers.forEach(each -> closing.step(each::close));
        closing.finish();
    }

    void closeAll() {
        closeOrphans();
        final List<Opened> all = new ArrayList<>();
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
        final List<Opened> all;
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
        final Opened opened;
        lock.lock();
        try {
            final Tenant tenant = find(loader);
            opened = tenant == null ? null : tenant.managers.get(uri);
        } finally {
            lock.unlock();
        }
        if (opened != null) {
            opened.close();
        }
    }
}
