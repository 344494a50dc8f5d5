package org.rowankv.server.peer;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.catalogue.ClientCatalogue;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.engine.Server;

/**
 * The cluster's caches, as read and changed by one of its servers: stored in the configuration store and propagated to
 * the other servers. Changes wait for every server of the cluster.
 *
 * <p>Thread-safe, but not for event loops: calls block, on the configuration store and on the other servers.
 */
public final class ClusterCatalogue implements ClientCatalogue {
    private final CatalogueStore store;
    private final List<StoredCache> known;
    private final Server own;
    private final int shardCount;
    private final Supplier<List<Integer>> others;
    private final LongSupplier term;
    private final PeerCalls calls;
    private final PeerCalls.Patience patience;
    /** Reads of the stored limits, numbered by their begin. */
    private final AtomicLong reads = new AtomicLong();
    /** The last read that is applied to this server. Guarded by this. */
    private long applied;

    /**
     * @param known caches read after the present start began, and before this server had its roles
     * @param others supplies the other members
     * @param term supplies the term of the roles in force
     */
    public ClusterCatalogue(
            ConfigurationStore store,
            String writer,
            RandomSource random,
            List<StoredCache> known,
            Server own,
            int shardCount,
            Supplier<List<Integer>> others,
            LongSupplier term,
            PeerCalls calls,
            PeerCalls.Patience patience) {
        this.store = new CatalogueStore(store, writer, random, this::destroyEverywhere);
        this.known = List.copyOf(known);
        this.own = own;
        this.shardCount = shardCount;
        this.others = others;
        this.term = term;
        this.calls = calls;
        this.patience = patience;
    }

    @Override
    public @Nullable StoredCache find(String name) {
        return store.find(name);
    }

    @Override
    public StoredCache create(String name, byte[] descriptor) {
        return store.create(name, descriptor);
    }

    @Override
    public boolean limit(String name, CacheLimit limit) {
        final boolean found = store.limit(name, limit) != null;
        if (found) {
            applyLimits();
            calls.askAll(others, PeerRequestType.CATALOGUE, 0, patience);
        }
        return found;
    }

    @Override
    public boolean destroy(String name) {
        return store.destroy(name);
    }

    /** Ordered by id. */
    @Override
    public List<StoredCache> list() {
        return store.list();
    }

    @Override
    public List<StoredCache> known() {
        return known;
    }

    @Override
    public long evictions(int cacheId) {
        return own.limits().evictions(cacheId);
    }

    @Override
    public long objects(int cacheId) {
        return own.limits().objects(cacheId);
    }

    @Override
    public long bytes(int cacheId) {
        return own.limits().bytes(cacheId);
    }

    /** Completes half-finished destroys after a crash. Needs all servers. */
    public void resume() {
        store.resume();
    }

    /**
     * Applies the stored limits to this server. A read is dropped if a later one is already applied: that one includes
     * its result. No lock is held while the store is read.
     */
    public void applyLimits() {
        final long ticket = reads.incrementAndGet();
        final List<StoredCache> stored = store.list();
        synchronized (this) {
            if (ticket > applied) {
                applied = ticket;
                stored.forEach(cache -> own.limit(cache.id(), cache.name(), cache.limit()));
            }
        }
    }

    private void destroyEverywhere(int cacheId) {
        long begun;
        do {
            begun = term.getAsLong(); // a shard that moves meanwhile may be missed at both servers
            destroyHere(cacheId);
            calls.askAll(others, PeerRequestType.DESTROY, cacheId, patience);
        } while (term.getAsLong() != begun);
    }

    /**
     * Destroys the objects of a cache in the shards of which this server is the primary.
     *
     * @throws StaleTermException if the server closes meanwhile: the caller retries in the next term
     */
    public void destroyHere(int cacheId) {
        final Request request = new Request();
        for (int shard = 0; shard < shardCount; shard++) {
            own.requests().call(request.destroy(cacheId, shard));
            if (request.status() == Status.CLOSED) {
                throw new StaleTermException("the server stops");
            }
            // UNKNOWN_CACHE: destroyed already, by an interrupted attempt.
            if (request.status() != Status.OK
                    && request.status() != Status.UNKNOWN_CACHE
                    && request.status() != Status.NOT_PRIMARY) {
                throw new IllegalStateException(
                        "destroying cache " + cacheId + " in shard " + shard + " was answered " + request.status());
            }
        }
        own.limit(cacheId, "", CacheLimit.NONE);
    }
}
