package org.rowankv.server.recovery;

import org.rowankv.server.index.ShardIndex;

/**
 * A batch of keyed entries that a scan found and checked, and that have not taken effect yet. The main cost of an entry
 * is the cache miss of its bucket, in a table larger than any cache. So all buckets of the batch are loaded before the
 * first is used, and the misses overlap. Used by one thread.
 */
final class EntryBatch {
    /** The entries themselves, of a few hundred bytes each, stay in the L1 and L2 caches meanwhile. */
    private static final int CAPACITY = 64;

    private final ShardIndex[] indexes = new ShardIndex[CAPACITY];
    private final long[] positions = new long[CAPACITY];
    private final long[] addresses = new long[CAPACITY];
    private final int[] types = new int[CAPACITY];
    private final int[] lengths = new int[CAPACITY];
    private int size;

    @SuppressWarnings("unused") // keeps the compiler from removing the loads that warm the cache
    private long fetched;

    /** Adds an entry; requires room for it. */
    void add(ShardIndex index, long position, long address, int type, int length) {
        indexes[size] = index;
        positions[size] = position;
        addresses[size] = address;
        types[size] = type;
        lengths[size++] = length;
    }

    boolean isFull() {
        return size == CAPACITY;
    }

    /** Loads the buckets of all entries. */
    void fetchBuckets() {
        long sum = 0;
        for (int i = 0; i < size; i++) {
            sum += indexes[i].candidate(positions[i], 0);
        }
        fetched = sum;
    }

    int size() {
        return size;
    }

    long position(int i) {
        return positions[i];
    }

    long address(int i) {
        return addresses[i];
    }

    int type(int i) {
        return types[i];
    }

    int length(int i) {
        return lengths[i];
    }

    void clear() {
        size = 0;
    }
}
