package org.rowankv.server.cluster;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.Server;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.membership.ConfigurationStore;

/**
 * The caches of a cluster, as one of its servers sees and changes them: what is stored, and what the other servers must be
 * told. Changes wait for every server of the cluster.
 *
 * <p>For any thread but an event loop's: calls block, on the configuration store and on the other servers.
 */
public final class ClusterCatalogue {
    private final CatalogueStore store;
    private final Server own;
    private final int shardCount;
    private final List<Integer> others;
    private final PeerCalls calls;
    private final PeerCalls.Patience patience;

    ClusterCatalogue(
            ConfigurationStore store,
            String writer,
            RandomSource random,
            Server own,
            int shardCount,
            List<Integer> others,
            PeerCalls calls,
            PeerCalls.Patience patience) {
        this.store = new CatalogueStore(store, writer, random, this::destroyEverywhere);
        this.own = own;
        this.shardCount = shardCount;
        this.others = others;
        this.calls = calls;
        this.patience = patience;
    }

    public @Nullable StoredCache find(String name) {
        return store.find(name);
    }

    /** Creates the cache, or returns the one of that name that exists. */
    public StoredCache create(String name, byte[] descriptor) {
        return store.create(name, descriptor);
    }

    /** Gives an existing cache another limit, or none; null if there is no such cache. */
    public @Nullable StoredCache limit(String name, CacheLimit limit) {
        final StoredCache limited = store.limit(name, limit);
        if (limited != null) {
            applyLimits();
            calls.askAll(others, Question.CATALOGUE, 0, patience);
        }
        return limited;
    }

    /** Removes a cache with all that is in it. False if there is none of that name. */
    public boolean destroy(String name) {
        return store.destroy(name);
    }

    /** The caches that exist, by the order of their ids. */
    public List<StoredCache> list() {
        return store.list();
    }

    /** Objects of the cache that were evicted by this server since it began to serve. */
    public long evictions(int cacheId) {
        return own.evictions(cacheId);
    }

    /** Tells this server of the limits that are stored. */
    synchronized void applyLimits() {
        store.list().forEach(cache -> own.limit(cache.id(), cache.name(), cache.limit()));
    }

    private void destroyEverywhere(int cacheId) {
        destroyHere(cacheId);
        calls.askAll(others, Question.DESTROY, cacheId, patience);
    }

    /** Destroys the objects of a cache in the shards whose primary this server is. */
    void destroyHere(int cacheId) {
        final Request request = new Request();
        for (int shard = 0; shard < shardCount; shard++) {
            own.call(request.destroy(cacheId, shard));
            if (request.status() != Status.OK && request.status() != Status.NOT_PRIMARY) {
                throw new IllegalStateException(
                        "destroying cache " + cacheId + " in shard " + shard + " was answered " + request.status());
            }
        }
        own.limit(cacheId, "", CacheLimit.NONE);
    }
}
