package org.rowankv.server.shard;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.rowankv.protocol.Parts;

/**
 * Object count and charged bytes of each cache, over the index of one shard. Changed together with the index, under its
 * lock, so that every replica has exact counts; a start counts them again while it reads the log. What a clear has
 * ended counts until it is swept. Parts of a cache's values count as its bytes, and as no objects.
 *
 * <p>Cache ids are small and never reused, so an array serves. Read by any thread, without a lock.
 */
public final class CacheCounts {
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int WORDS = 4;
    private static final int OBJECTS = 0;
    private static final int BYTES = 1;
    private static final int EVICTED = 2;

    private volatile long[] counts = new long[4 * WORDS];
    private volatile long parts;

    /** Grows the arrays for a cache, so that nothing that follows allocates. Under the index lock, as all writes. */
    void ensure(int id) {
        final long[] now = counts;
        final int cacheId = Parts.cacheOf(id);
        if (cacheId >= now.length / WORDS) {
            counts = Arrays.copyOf(now, Math.max((cacheId + 1) * WORDS, 2 * now.length));
        }
    }

    private void add(int cacheId, int what, long delta) {
        final long[] now = counts;
        final int at = Parts.cacheOf(cacheId) * WORDS + what;
        COUNT.setOpaque(now, at, now[at] + delta);
    }

    /** One object replaces another; a charge of 0 stands for none. */
    void replaced(int cacheId, int oldCharge, int newCharge) {
        if (oldCharge != newCharge) {
            addObjects(cacheId, (newCharge > 0 ? 1 : 0) - (oldCharge > 0 ? 1 : 0));
            add(cacheId, BYTES, (long) newCharge - oldCharge);
        }
    }

    private void addObjects(int cacheId, int delta) {
        if (Parts.isParts(cacheId)) {
            final long now = parts;
            parts = now + delta;
        } else {
            add(cacheId, OBJECTS, delta);
        }
    }

    /** The index no longer points to an object of that charge. Under the index lock. */
    public void removed(int cacheId, int charge) {
        ensure(cacheId);
        replaced(cacheId, charge, 0);
    }

    /** Resets all counts. */
    void clear() {
        counts = new long[counts.length];
        parts = 0;
    }

    /** Adds the objects that an index was loaded with. */
    public void loaded(int cacheId, int objects, long bytes) {
        ensure(cacheId);
        addObjects(cacheId, objects);
        add(cacheId, BYTES, bytes);
    }

    void evicted(int cacheId) {
        add(cacheId, EVICTED, 1);
    }

    private long get(int cacheId, int what) {
        final long[] now = counts;
        // Bounds are checked because a damaged entry's id may be any number.
        return cacheId >= 0 && cacheId < now.length / WORDS ? (long) COUNT.getOpaque(now, cacheId * WORDS + what) : 0;
    }

    public long objects(int cacheId) {
        return get(cacheId, OBJECTS);
    }

    /** Parts of values of all caches. */
    public long parts() {
        return parts;
    }

    /** Whether the index has objects with that cache id, or parts. */
    public boolean has(int cacheId) {
        return Parts.isParts(cacheId) ? parts > 0 && bytes(Parts.cacheOf(cacheId)) > 0 : objects(cacheId) > 0;
    }

    /** The charge of the objects and parts, as in {@link org.rowankv.server.log.Space}. */
    public long bytes(int cacheId) {
        return get(cacheId, BYTES);
    }

    /** Evictions of all caches; see {@link #evictions(int)}. */
    public long evictions() {
        long evictions = 0;
        for (int cacheId = 0; cacheId < counts.length / WORDS; cacheId++) {
            evictions += evictions(cacheId);
        }
        return evictions;
    }

    /** Objects whose eviction took effect on this replica since the log was read. */
    public long evictions(int cacheId) {
        return get(cacheId, EVICTED);
    }
}
