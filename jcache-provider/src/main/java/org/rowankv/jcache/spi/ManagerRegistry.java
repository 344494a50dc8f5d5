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
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.CloseSequence;
import org.rowankv.jcache.RowanCacheManager;

/**
 * Registry of open managers by class loader and URI. References class loaders weakly; the next call after a loader's
 * collection closes its managers. Thread-safe: guarded by itself, and closes no manager under that lock.
 */
final class ManagerRegistry {
    /** The managers of one class loader. */
    private static final class Tenant extends WeakReference<ClassLoader> {
        private final Map<URI, RowanCacheManager> managers = new HashMap<>();

        Tenant(ClassLoader loader, ReferenceQueue<ClassLoader> queue) {
            super(loader, queue);
        }
    }

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
        synchronized (this) {
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

    private synchronized void forget(RowanCacheManager closed) {
        for (Iterator<Tenant> each = tenants.iterator(); each.hasNext(); ) {
            final Tenant tenant = each.next();
            tenant.managers.remove(closed.getURI(), closed);
            if (tenant.managers.isEmpty()) {
                each.remove();
            }
        }
    }

    private void closeOrphans() {
        for (Reference<?> dead = collected.poll(); dead != null; dead = collected.poll()) {
            if (dead instanceof Tenant tenant) {
                closeAll(managersOf(tenant));
            }
        }
    }

    private synchronized List<RowanCacheManager> managersOf(@Nullable Tenant tenant) {
        return tenant == null ? List.of() : List.copyOf(tenant.managers.values());
    }

    private static void closeAll(List<RowanCacheManager> managers) {
        final CloseSequence closing = new CloseSequence();
        managers.forEach(manager -> closing.step(manager::close));
        closing.finish();
    }

    void closeAll() {
        closeOrphans();
        final List<RowanCacheManager> all = new ArrayList<>();
        synchronized (this) {
            tenants.forEach(tenant -> all.addAll(tenant.managers.values()));
        }
        closeAll(all);
    }

    void close(ClassLoader loader) {
        closeOrphans();
        final List<RowanCacheManager> all;
        synchronized (this) {
            all = managersOf(find(loader));
        }
        closeAll(all);
    }

    void close(URI uri, ClassLoader loader) {
        closeOrphans();
        final RowanCacheManager manager;
        synchronized (this) {
            final Tenant tenant = find(loader);
            manager = tenant == null ? null : tenant.managers.get(uri);
        }
        if (manager != null) {
            manager.close();
        }
    }
}
