package org.rowankv.server.embedded;

import java.util.BitSet;
import java.util.List;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.catalogue.ClientCatalogue;
import org.rowankv.server.catalogue.SpareContents;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.engine.Server;
import org.rowankv.server.shard.ShardReplica;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The catalogue of a store in this JVM. */
final class EmbeddedCatalogue implements ClientCatalogue, SpareContents {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedCatalogue.class);

    private final CatalogueStore store;
    private final EmbeddedConfigurationManager manager;
    private final List<Server> servers;
    private final Consumer<Request> session;
    /** Shared lock: held while a change is incomplete. Exclusive lock: held while the catalogue must not change. */
    private final ReentrantReadWriteLock changes;
    /** Servers whose evictions it counts. */
    private final List<Server> counted;

    /** @param session executes requests to their ends */
    EmbeddedCatalogue(
            ConfigurationStore store,
            RandomSource random,
            EmbeddedConfigurationManager manager,
            List<Server> servers,
            Consumer<Request> session) {
        this.store = new CatalogueStore(store, "embedded", random, this::destroyEverywhere);
        this.manager = manager;
        this.servers = servers;
        this.session = session;
        this.changes = new ReentrantReadWriteLock();
        this.counted = servers;
    }

    private EmbeddedCatalogue(EmbeddedCatalogue same, List<Server> counted) {
        this.store = same.store;
        this.manager = same.manager;
        this.servers = same.servers;
        this.session = same.session;
        this.changes = same.changes;
        this.counted = counted;
    }

    /** The same catalogue, with the evictions of one server only. */
    EmbeddedCatalogue countingAt(Server server) {
        return new EmbeddedCatalogue(this, List.of(server));
    }

    /** Completes what was interrupted, and applies what is stored to the servers. Call once, before the caches are used. */
    void start() {
        store.resume();
        final BitSet retired = store.retiredIds();
        for (Server server : servers) {
            for (ShardReplica replica : server.replicas().all()) {
                replica.clears().retire(retired);
            }
        }
        for (StoredCache cache : store.list()) {
            apply(cache);
        }
    }

    private void destroyEverywhere(int cacheId) {
        final Request request = new Request();
        for (int shard = 0; shard < manager.inForce().shardCount(); shard++) {
            session.accept(request.destroy(cacheId, shard));
            // UNKNOWN_CACHE: destroyed already, by an interrupted attempt.
            if (request.status() != Status.OK && request.status() != Status.UNKNOWN_CACHE) {
                throw new RowanException(
                        request.status(),
                        "destroying cache " + cacheId + " in shard " + shard + " was answered " + request.status());
            }
        }
        servers.forEach(server -> server.limit(cacheId, "", CacheLimit.NONE));
    }

    private void apply(StoredCache cache) {
        servers.forEach(server -> server.limit(cache.id(), cache.name(), cache.limit()));
    }

    /** Runs an action while no change of the catalogue is in progress. Not to be called inside a change. */
    <T extends @Nullable Object> T undisturbed(Supplier<T> action) {
        changes.writeLock().lock(); // terminates: a change waits for operations only, which have deadlines
        try {
            return action.get();
        } finally {
            changes.writeLock().unlock();
        }
    }

    private <T extends @Nullable Object> T changing(Supplier<T> change) {
        changes.readLock().lock(); // terminates: the snapshot under the exclusive lock has a time limit
        try {
            return change.get();
        } finally {
            changes.readLock().unlock();
        }
    }

    @Override
    public @Nullable StoredCache find(String name) {
        return store.find(name);
    }

    @Override
    public StoredCache create(String name, byte[] descriptor) {
        return changing(() -> store.create(name, descriptor));
    }

    @Override
    public boolean limit(String name, CacheLimit limit) {
        synchronized (changes) { // applied in the order of storing
            final StoredCache old = store.find(name);
            final StoredCache limited = changing(() -> store.limit(name, limit));
            if (limited != null) {
                apply(limited);
                if (old == null || old.limit().isNone()) {
                    LOG.debug("Cache limit set: cache={} limit={}", name, limit); // most new caches have one
                } else {
                    LOG.info("Cache limit changed: cache={} limit={}", name, limit);
                }
            }
            return limited != null;
        }
    }

    @Override
    public long evictions(int cacheId) {
        return counted.stream()
                .mapToLong(server -> server.limits().evictions(cacheId))
                .sum();
    }

    @Override
    public long objects(int cacheId) {
        return counted.stream()
                .mapToLong(server -> server.limits().objects(cacheId))
                .sum();
    }

    @Override
    public long bytes(int cacheId) {
        return counted.stream()
                .mapToLong(server -> server.limits().bytes(cacheId))
                .sum();
    }

    @Override
    public int spare() {
        return changing(store::spare);
    }

    @Override
    public boolean replace(String name, int spareId, byte[] descriptor) {
        synchronized (changes) { // as for limits
            final StoredCache replaced = changing(() -> store.replace(name, spareId, descriptor));
            if (replaced != null) {
                apply(replaced);
            }
            return replaced != null;
        }
    }

    @Override
    public void endSpare(int id) {
        changing(() -> {
            store.endSpare(id);
            return id;
        });
    }

    @Override
    public boolean destroy(String name) {
        return changing(() -> store.destroy(name));
    }

    @Override
    public List<StoredCache> list() {
        return store.list();
    }
}
