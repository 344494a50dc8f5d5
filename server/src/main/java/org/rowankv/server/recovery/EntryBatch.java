package org.rowankv.server.recovery;

import org.rowankv.server.index.ShardIndex;

/**
 * Keyed entries that a scan found and checked and that have not taken effect yet. What an entry costs is above all the
 * wait for its bucket, which lies anywhere in a table that no cache holds. So the buckets of all that is gathered here
 * are asked for before the first of them is used: the waits then overlap. Used by one thread.
 */
final class EntryBatch {
    /** The entries themselves, of a few hundred bytes each, stay in the first caches meanwhile. */
    private static final int CAPACITY = 64;

    private final ShardIndex[] indexes = new ShardIndex[CAPACITY];
    private final long[] positions = new long[CAPACITY];
    private final long[] addresses = new long[CAPACITY];
    private final int[] types = new int[CAPACITY];
    private final int[] lengths = new int[CAPACITY];
    private int size;

    @SuppressWarnings("unused") // keeps the compiler from dropping what only warms the cache
    private long fetched;

    /** Adds an entry; there is room for it. */
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

    /** Asks for the buckets of all entries. */
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
