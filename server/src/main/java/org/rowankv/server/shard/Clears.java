package org.rowankv.server.shard;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.rowankv.protocol.Parts;

/**
 * The clears of a shard: per cache, the version up to which its entries are dead, and whether the cache is destroyed.
 * Cache ids are small and never reused, so an array serves. Readers load with acquire; writers are serialized.
 */
public final class Clears {
    private static final VarHandle VERSION = MethodHandles.arrayElementVarHandle(long[].class);

    private volatile long[] clearedUpTo = new long[16];
    private volatile boolean[] destroyed = new boolean[16];
    /** Ids whose destruction this replica's log may not have. Immutable. */
    private volatile BitSet retired = new BitSet();
    /** Increases with every clear: the sweep compares it to detect new work. */
    private volatile int count;

    /**
     * Every entry of the cache in this shard with a version ≤ this one is dead. Accepts any id: a reader racing with
     * the reuse of a segment may pass garbage, which it detects later by generation. Parts end with their cache.
     */
    public long clearedUpTo(int id) {
        final long[] versions = clearedUpTo;
        final int cacheId = Parts.cacheOf(id);
        return cacheId >= 0 && cacheId < versions.length ? (long) VERSION.getAcquire(versions, cacheId) : 0;
    }

    public boolean isDestroyed(int id) {
        final int cacheId = Parts.cacheOf(id);
        return isDestroyedHere(cacheId) || cacheId >= 0 && retired.get(cacheId);
    }

    private boolean isDestroyedHere(int cacheId) {
        final boolean[] flags = destroyed;
        return cacheId >= 0 && cacheId < flags.length && flags[cacheId];
    }

    /** Refuses these ids too from now on: the entry that destroys a cache leaves the log once nothing of it is left. */
    public synchronized void retire(BitSet ids) {
        final BitSet all = (BitSet) ids.clone();
        all.or(retired);
        retired = all;
    }

    /** All ids that are refused. A new set. */
    public synchronized BitSet destroyedIds() {
        final BitSet ids = (BitSet) retired.clone();
        for (int cacheId = 0; cacheId < destroyed.length; cacheId++) {
            if (destroyed[cacheId]) {
                ids.set(cacheId);
            }
        }
        return ids;
    }

    synchronized void clear(int cacheId, long version, boolean destroy) {
        if (cacheId >= clearedUpTo.length) {
            clearedUpTo = Arrays.copyOf(clearedUpTo, Math.max(cacheId + 1, 2 * clearedUpTo.length));
        }
        if (version > clearedUpTo[cacheId]) {
            VERSION.setRelease(clearedUpTo, cacheId, version);
            count = count + 1;
        }
        if (destroy && !isDestroyedHere(cacheId)) {
            final boolean[] flags = Arrays.copyOf(destroyed, Math.max(cacheId + 1, destroyed.length));
            flags[cacheId] = true;
            destroyed = flags;
        }
    }

    public int count() {
        return count;
    }

    /**
     * A clear, as a checkpoint stores it.
     *
     * @param version every entry of the cache up to it is dead
     */
    public record Clear(int cacheId, long version, boolean destroyed) {}

    /** All clears so far. */
    public synchronized List<Clear> all() {
        final List<Clear> all = new ArrayList<>();
        for (int cacheId = 0; cacheId < clearedUpTo.length; cacheId++) {
            if (clearedUpTo[cacheId] != 0 || isDestroyedHere(cacheId)) {
                all.add(new Clear(cacheId, clearedUpTo[cacheId], isDestroyedHere(cacheId)));
            }
        }
        return all;
    }
}
