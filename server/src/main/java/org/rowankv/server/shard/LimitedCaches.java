package org.rowankv.server.shard;

import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.server.log.Space;

/** The caches with a limit on one server. Reads are a load of an array; changes are rare. Thread-safe. */
public final class LimitedCaches {
    private static final int SHARED_PERCENT = 75;

    private final Supplier<CacheCounts[]> own;
    private final int shardCount;
    private final SharedLimit shared;
    /** By cache id. Replaced as a whole. */
    private volatile @Nullable LimitedCache[] byId = new @Nullable LimitedCache[0];

    private volatile List<LimitedCache> all = List.of();
    /** Some cache may be above its limit, and no agent has checked it since. */
    private volatile boolean checkRequested;

    /**
     * @param own supplies the counts of this server's primary shards; the same array until those change
     * @param shardCount of all servers
     * @param sharedBytes supplies the limit of the caches that share one, in these shards
     * @param space of this server
     */
    public LimitedCaches(Supplier<CacheCounts[]> own, int shardCount, LongSupplier sharedBytes, Space space) {
        this.own = own;
        this.shardCount = shardCount;
        this.shared = new SharedLimit(sharedBytes, space);
    }

    /**
     * Those of a server. The caches that share a limit get {@value #SHARED_PERCENT} % of the space: the rest is for
     * tombstones, segment ends and other caches.
     */
    public static LimitedCaches of(CurrentRoles roles, Space space) {
        return new LimitedCaches(
                () -> roles.get().counts(),
                roles.get().shardCount(),
                () -> sharedBytes(roles.get(), space.limit()),
                space);
    }

    /** Divided by the replicas here, of which the primaries are a part. */
    private static long sharedBytes(Roles roles, long space) {
        final double part = (double) roles.primaries().size()
                / Math.max(1, roles.configuration().mostReplicas());
        return (long) (space * part * SHARED_PERCENT / 100);
    }

    /** The cache, or null if it has no limit. */
    public @Nullable LimitedCache find(int cacheId) {
        final @Nullable LimitedCache[] caches = byId;
        return cacheId >= 0 && cacheId < caches.length ? caches[cacheId] : null;
    }

    public List<LimitedCache> all() {
        return all;
    }

    /** Checks each cache against its share, which has changed with this server's shards. */
    public void look() {
        for (LimitedCache cache : all) {
            final boolean unused = cache.look();
        }
    }

    /** Requests a check of all caches by the evicting agent: one is above its limit. Any thread. */
    public void requestCheck() {
        checkRequested = true;
    }

    /** Whether a check by the evicting agent is requested. */
    public boolean isAnyCheckRequested() {
        return checkRequested;
    }

    /** Called by the evicting agent before it checks each cache. */
    public void looks() {
        checkRequested = false;
    }

    /** Changes or removes a cache's limit. True if the cache is above it: the caller then wakes the evicting agent. */
    public synchronized boolean limit(int cacheId, String name, CacheLimit limit) {
        final LimitedCache old = find(cacheId);
        if (limit.isNone()) {
            if (old != null) {
                replace(cacheId, null);
            }
            return false;
        }
        if (old != null && old.limit().equals(limit)) {
            return false;
        }
        final LimitedCache cache = new LimitedCache(cacheId, name, limit, own, shardCount, this::requestCheck, shared);
        replace(cacheId, cache);
        VarHandle.fullFence(); // before the check: a write that it misses sees the new limit
        return cache.look();
    }

    private void replace(int cacheId, @Nullable LimitedCache cache) {
        final @Nullable LimitedCache[] caches = Arrays.copyOf(byId, Math.max(byId.length, cacheId + 1));
        caches[cacheId] = cache;
        byId = caches;
        all = Arrays.stream(caches)
                .filter(Objects::nonNull)
                .map(Objects::requireNonNull)
                .toList();
        shared.caches(all.stream().filter(LimitedCache::sharesLimit).toList());
    }

    /** Objects of the cache evicted here as primary since the start. For any cache, with a limit or not. */
    public long evictions(int cacheId) {
        return sum(shard -> shard.evictions(cacheId));
    }

    /** Objects of the cache in the primary shards here. For any cache. */
    public long objects(int cacheId) {
        return sum(shard -> shard.objects(cacheId));
    }

    /** As {@link #objects}, their charged bytes. */
    public long bytes(int cacheId) {
        return sum(shard -> shard.bytes(cacheId));
    }

    private long sum(ToLongFunction<CacheCounts> count) {
        long sum = 0;
        for (CacheCounts shard : own.get()) {
            sum += count.applyAsLong(shard);
        }
        return sum;
    }
}
