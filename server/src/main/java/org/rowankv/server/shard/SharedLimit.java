package org.rowankv.server.shard;

import java.util.List;
import java.util.function.LongSupplier;
import org.rowankv.server.log.Space;

/**
 * The limit that the caches share which give way when the store is full: their objects in shards whose primary this
 * server is may take so many bytes together. Above it the largest of them is evicted, so that an idle cache does not
 * keep all of it. Any thread.
 */
final class SharedLimit {
    private final LongSupplier limit;
    private final Space space;
    private volatile List<LimitedCache> caches = List.of();
    private volatile boolean farAbove;
    private volatile boolean stuck;

    /**
     * @param limit supplies the bytes, which follow the shards of this server
     * @param space of the server; while half of it is free, bytes are not counted
     */
    SharedLimit(LongSupplier limit, Space space) {
        this.limit = limit;
        this.space = space;
    }

    void caches(List<LimitedCache> sharing) {
        caches = sharing;
    }

    private long bytes() {
        long bytes = 0;
        for (LimitedCache cache : caches) {
            bytes += cache.bytes();
        }
        return bytes;
    }

    /** Whether one of the caches must be evicted. */
    boolean isAbove() {
        if (space.available() > space.limit() / 2) {
            return false;
        }
        final long bytes = bytes();
        if (!farAbove && isFarAbove(bytes)) {
            farAbove = true;
        }
        return bytes > limit.getAsLong();
    }

    private boolean isFarAbove(long bytes) {
        final long maxBytes = limit.getAsLong();
        return bytes > maxBytes + maxBytes / 10;
    }

    /** The one with most bytes. */
    LimitedCache largest(LimitedCache fallback) {
        LimitedCache largest = fallback;
        long most = fallback.bytes();
        for (LimitedCache cache : caches) {
            final long bytes = cache.bytes();
            if (bytes > most) {
                most = bytes;
                largest = cache;
            }
        }
        return largest;
    }

    /** Called by the evicting agent after each object of that cache: whether it is another's turn, or none's. */
    boolean isEnough(LimitedCache evicted) {
        final long bytes = bytes();
        final long maxBytes = limit.getAsLong();
        farAbove = isFarAbove(bytes);
        return bytes <= maxBytes - maxBytes / 100
                || evicted.bytes() + maxBytes / 50 < largest(evicted).bytes();
    }

    boolean mustWait() {
        return farAbove && !stuck;
    }

    void rest() {
        farAbove = false;
    }

    void stuck(boolean isStuck) {
        stuck = isStuck;
    }
}
