package org.rowankv.server.embedded;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.server.catalogue.ClientCatalogue;
import org.rowankv.server.catalogue.StoredCache;

/** Catalogue stub of test servers: lists one cache, which no operation changes. */
public class OneCache implements ClientCatalogue {
    @Override
    public @Nullable StoredCache find(String name) {
        return null;
    }

    @Override
    public StoredCache create(String name, byte[] descriptor) {
        return new StoredCache(1, name, descriptor, null);
    }

    @Override
    public boolean limit(String name, CacheLimit limit) {
        return false;
    }

    @Override
    public long evictions(int cacheId) {
        return 0;
    }

    @Override
    public long objects(int cacheId) {
        return 0;
    }

    @Override
    public long bytes(int cacheId) {
        return 0;
    }

    @Override
    public boolean destroy(String name) {
        return false;
    }

    @Override
    public List<StoredCache> list() {
        return List.of(new StoredCache(1, "c", new byte[0], CacheLimit.NONE));
    }
}
