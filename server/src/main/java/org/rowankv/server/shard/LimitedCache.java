package org.rowankv.server.shard;

import java.lang.invoke.VarHandle;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;

/**
 * A cache with a limit on one server: this server's share of the limit, and the state of eviction. The share covers the
 * shards whose primary this server is. Keys are hashed, so the share is the limit divided by the shards. Shares are per
 * server and not per shard: the fewer objects a share has, the more of it is lost to the spread of keys.
 *
 * <p>Eviction begins above the share and ends 1 % below it, so that it does not begin again with every put. Puts wait
 * while the cache is 10 % above its share. A cache may instead share a limit of bytes with others. Any thread.
 */
public final class LimitedCache {
    private static final long UNLIMITED = Long.MAX_VALUE / 4;

    private final int id;
    private final String name;
    private final CacheLimit limit;
    private final Supplier<CacheCounts[]> own;
    private final int shardCount;
    private final Runnable requestCheck;
    /** Null if the limit is this cache's own. */
    private final @Nullable SharedLimit shared;
    /** Replaced when this server's primary shards change. Immutable, so a stale read is only computed again. */
    private Share share;

    private volatile boolean checkRequested;
    private volatile boolean farAbove;
    private volatile boolean stuck;

    /** The limit's part that belongs to some shards. */
    private static final class Share {
        private final CacheCounts[] shards;
        private final long maxObjects;
        private final long maxBytes;

        Share(CacheLimit limit, CacheCounts[] shards, int shardCount) {
            this.shards = shards;
            this.maxObjects = part(limit.maxEntries(), shards.length, shardCount);
            this.maxBytes = limit.maxBytes() == CacheLimit.SHARED
                    ? UNLIMITED
                    : part(limit.maxBytes(), shards.length, shardCount);
        }

        long objects(int id) {
            long objects = 0;
            for (CacheCounts shard : shards) {
                objects += shard.objects(id);
            }
            return objects;
        }

        long bytes(int id) {
            long bytes = 0;
            for (CacheCounts shard : shards) {
                bytes += shard.bytes(id);
            }
            return bytes;
        }

        boolean isAbove(long objects, long bytes) {
            return objects > maxObjects || bytes > maxBytes;
        }

        boolean isFarAbove(long objects, long bytes) {
            return objects > maxObjects + maxObjects / 10 || bytes > maxBytes + maxBytes / 10;
        }

        boolean isEnough(long objects, long bytes) {
            return objects <= maxObjects - maxObjects / 100 && bytes <= maxBytes - maxBytes / 100;
        }
    }

    /**
     * @param own supplies the counts of this server's primary shards; the same array until those change
     * @param ofSharing the limit of the caches that share one
     */
    LimitedCache(
            int id,
            String name,
            CacheLimit limit,
            Supplier<CacheCounts[]> own,
            int shardCount,
            Runnable requestCheck,
            SharedLimit ofSharing) {
        this.id = id;
        this.name = name;
        this.limit = limit;
        this.own = own;
        this.shardCount = shardCount;
        this.requestCheck = requestCheck;
        this.shared = limit.maxBytes() == CacheLimit.SHARED ? ofSharing : null;
        this.share = new Share(limit, own.get(), shardCount);
    }

    private Share share() {
        final CacheCounts[] shards = own.get();
        Share present = share;
        if (present.shards != shards) {
            present = new Share(limit, shards, shardCount);
            share = present;
        }
        return present;
    }

    private static long part(long whole, int own, int shardCount) {
        if (whole == CacheLimit.NO_LIMIT) {
            return UNLIMITED;
        }
        final long part = whole / shardCount * own + whole % shardCount * own / shardCount;
        return Math.min(UNLIMITED, Math.max(1, part));
    }

    public int id() {
        return id;
    }

    public String name() {
        return name;
    }

    public CacheLimit limit() {
        return limit;
    }

    /** Objects of the cache in shards whose primary this server is. */
    public long objects() {
        return share().objects(id);
    }

    /** Their charged bytes. */
    public long bytes() {
        return share().bytes(id);
    }

    boolean sharesLimit() {
        return shared != null;
    }

    /**
     * Checks whether the cache is above its limit, or the caches that share one; true if this call detects it: the
     * caller then wakes the evicting agent.
     */
    public boolean look() {
        final boolean isSharedFound =
                shared != null && shared.isAbove() && shared.largest(this).request();
        return lookAtOwn() || isSharedFound;
    }

    private boolean lookAtOwn() {
        final Share present = share();
        final long objects = present.objects(id);
        final long bytes = present.bytes(id);
        if (!present.isAbove(objects, bytes)) {
            return false;
        }
        if (!farAbove && present.isFarAbove(objects, bytes)) {
            farAbove = true;
        }
        return request();
    }

    private boolean request() {
        if (checkRequested) {
            return false;
        }
        checkRequested = true;
        requestCheck.run(); // after the store: the check that this requests then sees it
        return true;
    }

    /** Whether eviction is due, as of the last check. */
    public boolean isCheckRequested() {
        return checkRequested;
    }

    /** Whether puts must wait: the cache is 10 % above its limit, and eviction makes progress. */
    public boolean mustWait() {
        return farAbove && !stuck || shared != null && shared.mustWait();
    }

    /** Called by the evicting agent after each object: whether the cache is 1 % below its limit. */
    public boolean isEnough() {
        final Share present = share();
        final long objects = present.objects(id);
        final long bytes = present.bytes(id);
        farAbove = present.isFarAbove(objects, bytes);
        return present.isEnough(objects, bytes) && (shared == null || shared.isEnough(this));
    }

    /**
     * Called by the evicting agent before it stops. False means it may stop; true means the cache has grown meanwhile
     * and it must go on.
     */
    public boolean rest() {
        farAbove = false;
        if (shared != null) {
            shared.rest();
        }
        checkRequested = false;
        VarHandle.fullFence(); // before the check: a write that it misses sees checkRequested = false
        return look();
    }

    /** Called by the evicting agent: whether a full pass found nothing that can be evicted now. */
    public void stuck(boolean isStuck) {
        if (stuck != isStuck) {
            stuck = isStuck;
        }
        if (shared != null) {
            shared.stuck(isStuck);
        }
    }
}
