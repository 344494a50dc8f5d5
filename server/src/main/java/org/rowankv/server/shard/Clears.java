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
 * Cache ids are small and never reused, so arrays serve. Readers load with acquire; everything else is guarded by the
 * monitor.
 *
 * <p>A clear hides entries as long as this replica lives. Two things end earlier. Its entry in the log is a tombstone,
 * which may go only when what it ended is counted dead, that is, when the index was swept; {@link #horizon} bounds it.
 * And a checkpoint must hold it until the image of the index is without what it ended; see {@link #forCheckpoint}.
 */
public final class Clears {
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);
    /** No clear awaits a sweep. */
    private static final long NONE = Long.MAX_VALUE;

    private volatile long[] clearedUpTo = new long[16];
    /** By cache: the number of its last clear. */
    private int[] numbers = new int[clearedUpTo.length];
    /** A bit for each id that is refused. */
    private volatile long[] destroyed = new long[1];

    /** Of all clears so far. */
    private volatile int count;
    /** The clears up to that number were swept. */
    private volatile int sweptCount;
    /** As above, counting only sweeps that removed all that they met. */
    private int removedCount;

    /** The smallest horizon of those of which no sweep has begun. */
    private long unsweptSince = NONE;
    /** That of those being swept. */
    private long sweepingSince = NONE;

    private volatile long horizon = NONE;
    /** Caches whose last clear no checkpoint needs. */
    private final BitSet reflected = new BitSet();

    /**
     * Every entry of the cache in this shard with a version ≤ this one is dead. Accepts any id: a reader racing with
     * the reuse of a segment may pass garbage, which it detects later by generation. Parts end with their cache.
     */
    public long clearedUpTo(int id) {
        final long[] versions = clearedUpTo;
        final int cacheId = Parts.cacheOf(id);
        return cacheId >= 0 && cacheId < versions.length ? (long) WORD.getAcquire(versions, cacheId) : 0;
    }

    public boolean isDestroyed(int id) {
        final long[] words = destroyed;
        final int cacheId = Parts.cacheOf(id);
        final int word = cacheId >> 6;
        return cacheId >= 0 && word < words.length && ((long) WORD.getAcquire(words, word) >>> cacheId & 1) != 0;
    }

    /** Refuses these ids too from now on: the entry that destroys a cache leaves the log once nothing of it is left. */
    public synchronized void retire(BitSet ids) {
        for (int id = ids.nextSetBit(0); id >= 0; id = ids.nextSetBit(id + 1)) {
            refuse(id);
        }
    }

    private void refuse(int cacheId) {
        long[] words = destroyed;
        final int word = cacheId >> 6;
        if (word >= words.length) {
            words = Arrays.copyOf(words, Math.max(word + 1, 2 * words.length));
        }
        WORD.setRelease(words, word, words[word] | 1L << cacheId);
        destroyed = words;
    }

    /** All ids that are refused. A new set. */
    public synchronized BitSet destroyedIds() {
        return BitSet.valueOf(destroyed);
    }

    /**
     * @param since the number of a segment: the stamp of the clear's entry is not smaller. Any sweep that is under way
     *     may have passed what the clear ends
     */
    synchronized void clear(int cacheId, long version, boolean destroy, long since) {
        if (cacheId >= clearedUpTo.length) {
            final int length = Math.max(cacheId + 1, 2 * clearedUpTo.length);
            numbers = Arrays.copyOf(numbers, length);
            clearedUpTo = Arrays.copyOf(clearedUpTo, length);
        }
        if (version > clearedUpTo[cacheId]) {
            WORD.setRelease(clearedUpTo, cacheId, version);
            reflected.clear(cacheId);
        }
        if (destroy) {
            refuse(cacheId);
        }
        // An older one too: until a sweep, its entry must not go before that of the newer one is on all replicas.
        unsweptSince = Math.min(unsweptSince, since);
        horizon = Math.min(horizon, since);
        numbers[cacheId] = count + 1;
        count = count + 1;
    }

    /** Whether the index is without what clears have ended. Any thread. */
    public boolean isSwept() {
        return sweptCount == count;
    }

    /** A sweep of the whole index begins; returns the clears that it covers, for {@link #endSweep}. */
    public synchronized int beginSweep() {
        sweepingSince = Math.min(sweepingSince, unsweptSince);
        unsweptSince = NONE;
        return count;
    }

    /**
     * The sweep has ended.
     *
     * @param covered what {@link #beginSweep} returned
     * @param leftNothing false if a damaged entry stayed in the index
     */
    public synchronized void endSweep(int covered, boolean leftNothing) {
        sweepingSince = NONE;
        horizon = unsweptSince;
        sweptCount = covered;
        if (leftNothing) {
            removedCount = covered;
        }
    }

    /** A damaged entry was repaired. If it was cleared, sweeps have left it in the index: the next one removes it. */
    public synchronized void repaired(int cacheId, long version) {
        final int cleared = Parts.cacheOf(cacheId);
        if (version <= clearedUpTo(cleared)) {
            clear(cleared, clearedUpTo(cleared), false, 0);
        }
    }

    /**
     * The number of a segment. Every clear whose entry has a smaller stamp was swept: what it ended is counted dead. Any
     * thread.
     */
    public long horizon() {
        return horizon;
    }

    /**
     * A clear, as a checkpoint stores it.
     *
     * @param version every entry of the cache up to it is dead
     */
    public record Clear(int cacheId, long version) {}

    /**
     * The clears that a checkpoint must hold unless its image is of an index without what they ended: all of which none
     * was yet, in the order of ids.
     */
    public synchronized List<Clear> forCheckpoint() {
        final List<Clear> clears = new ArrayList<>();
        for (int cacheId = 0; cacheId < clearedUpTo.length; cacheId++) {
            if (clearedUpTo[cacheId] != 0 && !reflected.get(cacheId)) {
                clears.add(new Clear(cacheId, clearedUpTo[cacheId]));
            }
        }
        return clears;
    }

    /**
     * Of these clears, those of which something may be left in the index. An image of the index as it is from now on is
     * without what the other ones ended.
     */
    public synchronized List<Clear> notRemoved(List<Clear> clears) {
        final List<Clear> left = new ArrayList<>();
        for (Clear clear : clears) {
            if (numbers[clear.cacheId()] > removedCount) {
                left.add(clear);
            }
        }
        return left;
    }

    /**
     * A checkpoint is in force whose image is without what these clears ended; so is every later image. What a start
     * finds of it elsewhere is over, since its version is ≤ that of the image, which does not name it.
     */
    public synchronized void reflected(List<Clear> clears) {
        for (Clear clear : clears) {
            if (clearedUpTo[clear.cacheId()] == clear.version()) {
                reflected.set(clear.cacheId());
            }
        }
    }
}
