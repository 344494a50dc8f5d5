package org.rowankv.server.peer;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
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
 * The caches of a cluster, as one of its servers sees and changes them: what is stored, and what the other servers must be
 * told. Changes wait for every server of the cluster.
 *
 * <p>For any thread but an event loop's: calls block, on the configuration store and on the other servers.
 */
public final class ClusterCatalogue implements ClientCatalogue {
    private final CatalogueStore store;
    private final List<StoredCache> known;
    private final Server own;
    private final int shardCount;
    private final List<Integer> others;
    private final PeerCalls calls;
    private final PeerCalls.Patience patience;
    /** Of the stored limits, in the order in which they begin. */
    private final AtomicLong reads = new AtomicLong();
    /** The last read that is applied to this server. Guarded by this. */
    private long applied;

    /** @param known caches that there were after the start began of which the server's roles are, and before it had them */
    public ClusterCatalogue(
            ConfigurationStore store,
            String writer,
            RandomSource random,
            List<StoredCache> known,
            Server own,
            int shardCount,
            List<Integer> others,
            PeerCalls calls,
            PeerCalls.Patience patience) {
        this.store = new CatalogueStore(store, writer, random, this::destroyEverywhere);
        this.known = List.copyOf(known);
        this.own = own;
        this.shardCount = shardCount;
        this.others = others;
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

    /** By the order of their ids. */
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
        return own.evictions(cacheId);
    }

    /** Finishes what a crash left half destroyed. Needs all servers. */
    public void resume() {
        store.resume();
    }

    /**
     * Applies the limits that are stored to this server. A read that began before one that is applied already is dropped: what it
     * was to apply was stored before it began, so the other has it. No lock is held while the store is read.
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
        destroyHere(cacheId);
        calls.askAll(others, PeerRequestType.DESTROY, cacheId, patience);
    }

    /**
     * Destroys the objects of a cache in the shards whose primary this server is.
     *
     * @throws StaleTermException if it is closed meanwhile: whoever wants that asks again when there are new roles
     */
    public void destroyHere(int cacheId) {
        final Request request = new Request();
        for (int shard = 0; shard < shardCount; shard++) {
            own.requests().call(request.destroy(cacheId, shard));
            if (request.status() == Status.CLOSED) {
                throw new StaleTermException("the server stops");
            }
            // Unknown: destroyed already, by an attempt that was broken off.
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
