package org.rowankv.sim.cluster;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.peer.ClusterCatalogue;

/** A server's catalogue, as seen by a connected client. */
final class DoorCatalogue implements Catalogue {
    private final ClusterCatalogue catalogue;

    DoorCatalogue(ClusterCatalogue catalogue) {
        this.catalogue = catalogue;
    }

    private static CacheRecord recordOf(StoredCache cache) {
        return new CacheRecord(cache.id(), cache.name(), cache.descriptor(), cache.limit());
    }

    @Override
    public @Nullable CacheRecord find(String name) {
        final StoredCache found = catalogue.find(name);
        return found == null ? null : recordOf(found);
    }

    @Override
    public CacheRecord create(String name, byte[] descriptor) {
        return recordOf(catalogue.create(name, descriptor));
    }

    @Override
    public boolean limit(String name, CacheLimit limit) {
        return catalogue.limit(name, limit);
    }

    @Override
    public long evictions(int cacheId) {
        return catalogue.evictions(cacheId);
    }

    @Override
    public boolean destroy(String name) {
        return catalogue.destroy(name);
    }

    @Override
    public List<CacheRecord> list() {
        return catalogue.list().stream().map(DoorCatalogue::recordOf).toList();
    }
}
