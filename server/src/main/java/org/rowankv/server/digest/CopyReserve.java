package org.rowankv.server.digest;

import org.rowankv.server.log.Space;

/**
 * The space that is reserved for copies to joining replicas, so that new writes do not take it. A copied entry takes
 * space where it lands, out of what is reserved for its shard; at the end of the copy the rest is released. So it does
 * not matter how often an entry is copied, or that one of these was ended meanwhile.
 *
 * <p>Thread-safe.
 */
public final class CopyReserve {
    private final Space space;
    private final long[] reserved;
    /** By shard: the epoch in which the present copy was announced. */
    private final int[] epochs;

    CopyReserve(Space space, int shardCount) {
        this.space = space;
        this.reserved = new long[shardCount];
        this.epochs = new int[shardCount];
    }

    /**
     * A copy of a shard needs so many bytes. They are taken even if there is less: they were acquired when the entries
     * were first written. Once for an epoch; the reserve of an earlier one is released.
     */
    public synchronized void announced(int shard, int epoch, long bytes) {
        if (epoch <= epochs[shard]) {
            return;
        }
        space.take(bytes - reserved[shard]);
        reserved[shard] = bytes;
        epochs[shard] = epoch;
    }

    /** The epoch of the present copy of a shard, or of the last one; 0 if there was none in this tenure. */
    public synchronized int epoch(int shard) {
        return epochs[shard];
    }

    /** A copied entry takes space: returns how much of it was reserved. */
    synchronized long use(int shard, long bytes) {
        final long used = Math.min(reserved[shard], bytes);
        reserved[shard] -= used;
        return used;
    }

    /** The copy of a shard has ended: nothing more of it lands. */
    public synchronized void end(int shard) {
        space.release(reserved[shard]);
        reserved[shard] = 0;
    }

    /** Another tenure begins, for which nothing was announced. */
    synchronized void begin(int shard) {
        end(shard);
        epochs[shard] = 0;
    }
}
