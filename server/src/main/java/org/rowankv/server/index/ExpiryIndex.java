package org.rowankv.server.index;

/**
 * The expiry bounds of an index: each bucket's {@link ExpiryBound}, and their minimum. A walk over all positions
 * recomputes the minimum. All but {@link #earliest} requires the index's lock.
 */
public final class ExpiryIndex {
    private final BucketTable table;
    /** No bucket has a smaller bound, except during a walk. Written under the lock. */
    private volatile long earliest = ExpiryBound.NEVER;

    ExpiryIndex(BucketTable table) {
        this.table = table;
    }

    void lower(long[] words, int bucket, long bound) {
        if (bound < ExpiryBound.in(words[Chunks.word(bucket) + Chunks.ITEMS])) {
            BucketTable.bound(words, bucket, bound);
        }
        if (bound < earliest) {
            earliest = bound;
        }
    }

    /** The smallest bound of all buckets, or of those that the current walk has passed. Any thread, no lock. */
    public long earliest() {
        return earliest;
    }

    /** Resets the smallest bound; a walk over all positions must recompute it by {@link #pass}. */
    public void beginWalk() {
        earliest = ExpiryBound.NEVER;
    }

    /** The bound of the bucket of that position. */
    public long bound(long position) {
        final int bucket = table.bucketOf(IndexItem.tagAt(position));
        return ExpiryBound.in(Chunks.of(table.chunks(), bucket)[Chunks.word(bucket) + Chunks.ITEMS]);
    }

    /** The caller has read all entries of the bucket of that position: none expires before {@code bound}. */
    public void bound(long position, long bound) {
        final int bucket = table.bucketOf(IndexItem.tagAt(position));
        BucketTable.bound(Chunks.of(table.chunks(), bucket), bucket, bound);
    }

    /** A walk leaves the bucket of that position; returns the position after its range, or 0 at the end. */
    public long pass(long position) {
        earliest = Math.min(earliest, bound(position));
        return table.behind(position);
    }
}
