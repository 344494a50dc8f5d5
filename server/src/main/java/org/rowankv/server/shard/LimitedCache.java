package org.rowankv.server.shard;

import java.lang.invoke.VarHandle;
import org.rowankv.protocol.CacheLimit;

/**
 * A cache with a limit, as one server sees it: the part of the limit that falls to the shards whose primary it is, and how
 * far the cache is from it. Keys are hashed, so each server's part is the limit divided by the shards; that is done by
 * servers and not by shards, since the fewer objects a part has, the more of it is lost to the spread of keys.
 *
 * <p>Eviction begins above the part and ends a hundredth below, so that it does not begin anew with every put. A tenth above,
 * puts wait. Any thread.
 */
public final class LimitedCache {
    private static final long UNLIMITED = Long.MAX_VALUE / 4;

    private final int id;
    private final String name;
    private final CacheLimit limit;
    private final long maxObjects;
    private final long maxBytes;
    private final CacheCounts[] shards;
    private final Runnable want;

    private volatile boolean wanted;
    private volatile boolean farAbove;
    private volatile boolean stuck;

    LimitedCache(int id, String name, CacheLimit limit, CacheCounts[] shards, int shardCount, Runnable want) {
        this.id = id;
        this.name = name;
        this.limit = limit;
        this.shards = shards;
        this.want = want;
        this.maxObjects = part(limit.maxEntries(), shards.length, shardCount);
        this.maxBytes = part(limit.maxBytes(), shards.length, shardCount);
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

    /** Objects of the cache whose primary this server is. */
    public long objects() {
        long objects = 0;
        for (CacheCounts shard : shards) {
            objects += shard.objects(id);
        }
        return objects;
    }

    /** What they are charged. */
    public long bytes() {
        long bytes = 0;
        for (CacheCounts shard : shards) {
            bytes += shard.bytes(id);
        }
        return bytes;
    }

    /** Looks whether the cache has grown above its limit; true if nobody knew: then the evicting agent is to be woken. */
    public boolean look() {
        final long objects = objects();
        final long bytes = bytes();
        if (objects <= maxObjects && bytes <= maxBytes) {
            return false;
        }
        if (!farAbove && isFarAbove(objects, bytes)) {
            farAbove = true;
        }
        if (wanted) {
            return false;
        }
        wanted = true;
        want.run(); // behind it: a look that is asked for finds it
        return true;
    }

    /** Whether something is to be evicted, as far as anybody has looked. */
    public boolean isWanted() {
        return wanted;
    }

    /** Whether puts must wait: the cache is a tenth above its limit, and what is to go can go. */
    public boolean mustWait() {
        return farAbove && !stuck;
    }

    private boolean isFarAbove(long objects, long bytes) {
        return objects > maxObjects + maxObjects / 10 || bytes > maxBytes + maxBytes / 10;
    }

    /** By the agent that evicts, after each object: whether that is enough, a hundredth below the limit. */
    public boolean isEnough() {
        final long objects = objects();
        final long bytes = bytes();
        farAbove = isFarAbove(objects, bytes);
        return objects <= maxObjects - maxObjects / 100 && bytes <= maxBytes - maxBytes / 100;
    }

    /** By the agent that evicts: it will stop. True if it must not, since the cache has grown meanwhile. */
    public boolean rest() {
        farAbove = false;
        wanted = false;
        VarHandle.fullFence(); // before looking: a write that this look misses finds that no agent is at work
        return look();
    }

    /** By the agent that evicts: whether it has gone round without finding anything that can go now. */
    public void stuck(boolean isStuck) {
        if (stuck != isStuck) {
            stuck = isStuck;
        }
    }
}
