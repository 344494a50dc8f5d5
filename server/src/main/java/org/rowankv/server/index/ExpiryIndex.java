package org.rowankv.server.index;

/**
 * When the objects of an index may expire: each bucket's {@link ExpiryBound}, and the smallest of them. A walk over all
 * positions finds the smallest one anew. All but {@link #earliest} is for the holder of the index's lock.
 */
public final class ExpiryIndex {
    private final BucketTable table;
    /** No bucket has a smaller bound, unless a walk over all of them is under way. Written under the lock. */
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

    /** The smallest bound of all buckets, or of those that the walk under way has come by. Any thread, no lock. */
    public long earliest() {
        return earliest;
    }

    /** Forgets the smallest bound; a walk over all positions must find it again, by {@link #pass}. */
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

    /** A walk leaves the bucket of that position behind; returns the position behind its range, or 0 at the end. */
    public long pass(long position) {
        earliest = Math.min(earliest, bound(position));
        return table.behind(position);
    }
}
