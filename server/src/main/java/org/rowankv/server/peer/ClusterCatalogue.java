package org.rowankv.server.peer;

import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.agent.Scheduling;
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
    /** Between two rounds of questions to shards that have no primary for a moment. */
    private static final long ASK_AGAIN_NS = 5_000_000;

    private final CatalogueStore store;
    private final List<StoredCache> known;
    private final Server own;
    private final int shardCount;
    private final Supplier<List<Integer>> others;
    private final Scheduling scheduling;
    private final PeerCalls calls;
    private final PeerCalls.Patience patience;
    /** Reads of the stored limits, numbered by their begin. */
    private final AtomicLong reads = new AtomicLong();
    /** The last read that is applied to this server. Guarded by this. */
    private long applied;

    /**
     * @param known caches read after the present start began, and before this server had its roles
     * @param others supplies the other members
     */
    public ClusterCatalogue(
            ConfigurationStore store,
            String writer,
            RandomSource random,
            List<StoredCache> known,
            Server own,
            int shardCount,
            Supplier<List<Integer>> others,
            Scheduling scheduling,
            PeerCalls calls,
            PeerCalls.Patience patience) {
        this.store = new CatalogueStore(store, writer, random, this::destroyEverywhere);
        this.known = List.copyOf(known);
        this.own = own;
        this.shardCount = shardCount;
        this.others = others;
        this.scheduling = scheduling;
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

    /**
     * A shard that moves meanwhile may have no primary at either server when each is asked, and neither need know of the
     * other's term: so each shard itself must have answered.
     */
    private void destroyEverywhere(int cacheId) {
        final BitSet destroyed = destroyHere(cacheId);
        while (true) {
            calls.askAll(
                    others,
                    PeerRequestType.DESTROY,
                    cacheId,
                    answer -> destroyed.or(BitSet.valueOf(PeerMessageDescriptor.payload(answer))),
                    patience);
            if (destroyed.nextClearBit(0) >= shardCount) {
                return;
            }
            patience.check();
            scheduling.park(ASK_AGAIN_NS);
            destroyed.or(destroyHere(cacheId));
        }
    }

    /**
     * Destroys the objects of a cache in the shards of which this server is the primary.
     *
     * @return the shards in which they are destroyed, on all replicas
     * @throws StaleTermException if the server closes meanwhile: the caller retries in the next term
     */
    public BitSet destroyHere(int cacheId) {
        final BitSet destroyed = new BitSet(shardCount);
        final Request request = new Request();
        for (int shard = 0; shard < shardCount; shard++) {
            own.requests().call(request.destroy(cacheId, shard));
            switch (request.status()) {
                // UNKNOWN_CACHE: destroyed already, by an interrupted attempt.
                case OK, UNKNOWN_CACHE -> destroyed.set(shard);
                case NOT_PRIMARY -> {} // another server answers for it
                case CLOSED -> throw new StaleTermException("the server stops");
                default ->
                    throw new IllegalStateException(
                            "destroying cache " + cacheId + " in shard " + shard + " was answered " + request.status());
            }
        }
        own.limit(cacheId, "", CacheLimit.NONE);
        return destroyed;
    }
}
