package org.rowankv.server.embedded;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.engine.Server;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The store's catalogue as the driver sees it. */
final class EmbeddedCatalogue implements Catalogue {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedCatalogue.class);

    private final CatalogueStore store;
    private final List<Server> servers;
    /** Shared by those who change something, for as long as that is half done; alone, by who needs it whole. */
    private final ReentrantReadWriteLock changes = new ReentrantReadWriteLock();

    EmbeddedCatalogue(CatalogueStore store, List<Server> servers) {
        this.store = store;
        this.servers = servers;
    }

    /** Tells the servers of the limits that are stored. Once, before the caches are used. */
    void applyLimits() {
        store.list().forEach(this::apply);
    }

    private void apply(StoredCache cache) {
        servers.forEach(server -> server.limit(cache.id(), cache.name(), cache.limit()));
    }

    /** Does something while no cache is half made, half removed, or half limited. Not from inside a change. */
    <T extends @Nullable Object> T undisturbed(Supplier<T> action) {
        changes.writeLock().lock(); // ends: a change waits for operations only, which have deadlines
        try {
            return action.get();
        } finally {
            changes.writeLock().unlock();
        }
    }

    private <T extends @Nullable Object> T changing(Supplier<T> change) {
        changes.readLock().lock(); // ends: what needs to be undisturbed has patience for its cut
        try {
            return change.get();
        } finally {
            changes.readLock().unlock();
        }
    }

    private static CacheRecord recordOf(StoredCache cache) {
        return new CacheRecord(cache.id(), cache.name(), cache.descriptor(), cache.limit());
    }

    @Override
    public @Nullable CacheRecord find(String name) {
        final StoredCache found = store.find(name);
        return found == null ? null : recordOf(found);
    }

    @Override
    public CacheRecord create(String name, byte[] descriptor) {
        return changing(() -> recordOf(store.create(name, descriptor)));
    }

    @Override
    public synchronized boolean limit(String name, CacheLimit limit) {
        final StoredCache limited = changing(() -> store.limit(name, limit));
        if (limited != null) {
            apply(limited); // in the order in which they are stored, hence synchronized
            LOG.info("the cache {} has from now on {}", name, limit);
        }
        return limited != null;
    }

    @Override
    public long evictions(int cacheId) {
        long evictions = 0;
        for (Server server : servers) {
            evictions += server.evictions(cacheId);
        }
        return evictions;
    }

    @Override
    public boolean destroy(String name) {
        return changing(() -> store.destroy(name));
    }

    @Override
    public List<CacheRecord> list() {
        final List<CacheRecord> records = new ArrayList<>();
        store.list().forEach(cache -> records.add(recordOf(cache)));
        return records;
    }
}
