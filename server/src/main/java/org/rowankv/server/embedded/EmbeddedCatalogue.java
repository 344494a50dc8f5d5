package org.rowankv.server.embedded;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.Catalogue;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.catalogue.StoredCache;

/** The store's catalogue as the driver sees it. */
final class EmbeddedCatalogue implements Catalogue {
    private final CatalogueStore store;

    EmbeddedCatalogue(CatalogueStore store) {
        this.store = store;
    }

    private static CacheRecord recordOf(StoredCache cache) {
        return new CacheRecord(cache.id(), cache.name(), cache.descriptor());
    }

    @Override
    public @Nullable CacheRecord find(String name) {
        final StoredCache found = store.find(name);
        return found == null ? null : recordOf(found);
    }

    @Override
    public CacheRecord create(String name, byte[] descriptor) {
        return recordOf(store.create(name, descriptor));
    }

    @Override
    public boolean destroy(String name) {
        return store.destroy(name);
    }

    @Override
    public List<CacheRecord> list() {
        final List<CacheRecord> records = new ArrayList<>();
        store.list().forEach(cache -> records.add(recordOf(cache)));
        return records;
    }
}
