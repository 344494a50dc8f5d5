package org.rowankv.server.retention;

/**
 * The position of one cache's eviction, and its policy: the candidates to choose from. At least four objects are met
 * before one of them is evicted. An expired one goes first; then one unused since its mark was cleared; else any. Of
 * several alike the youngest goes, so that objects requested once do not displace those requested again. The hand
 * clears one in four of the marks that it passes.
 *
 * <p>Owned by one agent.
 */
final class ClockHand {
    private static final int CHOICE = 4;
    private static final int MARKS_PER_MARK_TAKEN = 4;
    /** The objects of a bucket arrive together. */
    private static final int MOST = 64;

    /** Index among the server's primary shards. */
    int shard;

    long position;
    int fruitlessPasses;
    boolean hasEvicted;
    long restsUntilNs;

    private final int[] shards = new int[MOST];
    private final long[] positions = new long[MOST];
    private final long[] addresses = new long[MOST];
    private final long[] versions = new long[MOST];
    private final boolean[] marked = new boolean[MOST];
    private final boolean[] over = new boolean[MOST];
    private int count;
    /** Marks met since the last one was cleared. */
    private int marksMet;

    ClockHand(long nowNs) {
        restsUntilNs = nowNs;
    }

    /** Begins with the first shard again, without candidates: the shards are others now. */
    void restart() {
        shard = 0;
        position = 0;
        drop();
    }

    boolean isFull() {
        return count >= CHOICE;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** The hand passes an object; true if its mark must be cleared. */
    boolean meet(int shardIndex, long at, long address, long version, boolean isMarked, boolean isOver) {
        if (count < MOST) {
            shards[count] = shardIndex;
            positions[count] = at;
            addresses[count] = address;
            versions[count] = version;
            marked[count] = isMarked;
            over[count] = isOver;
            count++;
        }
        if (!isMarked || ++marksMet < MARKS_PER_MARK_TAKEN) {
            return false;
        }
        marksMet = 0;
        return true;
    }

    /** The index of the candidate to evict. Requires at least one. */
    int choose() {
        int best = 0;
        for (int i = 1; i < count; i++) {
            if (isBefore(i, best)) {
                best = i;
            }
        }
        return best;
    }

    private boolean isBefore(int a, int b) {
        if (over[a] != over[b]) {
            return over[a];
        }
        if (marked[a] != marked[b]) {
            return marked[b];
        }
        return versions[a] > versions[b]; // within a shard larger is younger, across starts and cleaning
    }

    int shardOf(int chosen) {
        return shards[chosen];
    }

    long positionOf(int chosen) {
        return positions[chosen];
    }

    long addressOf(int chosen) {
        return addresses[chosen];
    }

    /** Removes a candidate that no longer exists. */
    void forget(int gone) {
        count--;
        shards[gone] = shards[count];
        positions[gone] = positions[count];
        addresses[gone] = addresses[count];
        versions[gone] = versions[count];
        marked[gone] = marked[count];
        over[gone] = over[count];
    }

    /** One is chosen: the other candidates count as passed. */
    void drop() {
        count = 0;
    }
}
