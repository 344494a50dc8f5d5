package org.rowankv.driver;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.protocol.CacheLimit;

/** In-memory catalogue. Guarded by itself. */
final class ModelCatalogue implements Catalogue {
    private final Map<String, CacheRecord> byName = new TreeMap<>();
    private final Set<Integer> ids = new HashSet<>();
    private final IntConsumer whenDestroyed;
    private int lastId;

    ModelCatalogue(IntConsumer whenDestroyed) {
        this.whenDestroyed = whenDestroyed;
    }

    synchronized boolean knows(int cacheId) {
        return ids.contains(cacheId);
    }

    @Override
    public synchronized CacheRecord find(String name) {
        return byName.get(name);
    }

    @Override
    public synchronized CacheRecord create(String name, byte[] descriptor) {
        return byName.computeIfAbsent(name, n -> {
            ids.add(++lastId);
            return new CacheRecord(lastId, n, descriptor.clone(), CacheLimit.NONE);
        });
    }

    @Override
    public synchronized boolean limit(String name, CacheLimit limit) {
        final CacheRecord found = byName.get(name);
        if (found != null) {
            byName.put(name, new CacheRecord(found.id(), name, found.descriptor(), limit));
        }
        return found != null;
    }

    /** The model evicts nothing. */
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
    public synchronized boolean destroy(String name) {
        final CacheRecord gone = byName.remove(name);
        if (gone == null) {
            return false;
        }
        ids.remove(gone.id());
        whenDestroyed.accept(gone.id());
        return true;
    }

    @Override
    public synchronized List<CacheRecord> list() {
        return new ArrayList<>(byName.values());
    }
}
