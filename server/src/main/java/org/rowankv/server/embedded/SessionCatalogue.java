package org.rowankv.server.embedded;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Status;
import org.rowankv.server.catalogue.CacheIdsUsedException;
import org.rowankv.server.catalogue.ClientCatalogue;
import org.rowankv.server.catalogue.StoredCache;

/** Adapts a server's catalogue to sessions of clients in the same JVM. */
public record SessionCatalogue(ClientCatalogue server) implements Catalogue {
    private static CacheRecord recordOf(StoredCache cache) {
        return new CacheRecord(cache.id(), cache.name(), cache.descriptor(), cache.limit());
    }

    @Override
    public @Nullable CacheRecord find(String name) {
        final StoredCache found = server.find(name);
        return found == null ? null : recordOf(found);
    }

    @Override
    public CacheRecord create(String name, byte[] descriptor) {
        try {
            return recordOf(server.create(name, descriptor));
        } catch (CacheIdsUsedException e) {
            throw new RowanException(Status.TOO_LARGE, String.valueOf(e.getMessage()));
        }
    }

    @Override
    public boolean limit(String name, CacheLimit limit) {
        return server.limit(name, limit);
    }

    @Override
    public long evictions(int cacheId) {
        return server.evictions(cacheId);
    }

    @Override
    public long objects(int cacheId) {
        return server.objects(cacheId);
    }

    @Override
    public long bytes(int cacheId) {
        return server.bytes(cacheId);
    }

    @Override
    public boolean destroy(String name) {
        return server.destroy(name);
    }

    @Override
    public List<CacheRecord> list() {
        return server.list().stream().map(SessionCatalogue::recordOf).toList();
    }
}
