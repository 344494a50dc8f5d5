package org.rowankv.server.retention;

/**
 * Where the eviction of one cache has come to, and between which objects it is about to choose: the policy. At least four
 * objects are met before one of them goes: one whose lifetime is over, if there is such; else one that was not used since
 * its mark was taken away; else any. Of several alike the youngest goes, so that what is asked for only once does not
 * displace what has been asked for again. Of the marks that the hand comes by it takes one in four away.
 *
 * <p>Owned by one agent.
 */
final class ClockHand {
    private static final int CHOICE = 4;
    private static final int MARKS_PER_MARK_TAKEN = 4;
    /** Those of a bucket come together. */
    private static final int MOST = 64;

    int shard;
    long position;
    int fruitlessRounds;
    boolean hasEvicted;
    long restsUntilNs;

    private final int[] shards = new int[MOST];
    private final long[] positions = new long[MOST];
    private final long[] addresses = new long[MOST];
    private final long[] versions = new long[MOST];
    private final boolean[] marked = new boolean[MOST];
    private final boolean[] over = new boolean[MOST];
    private int count;
    /** Since one was taken away. */
    private int marksMet;

    ClockHand(long nowNs) {
        restsUntilNs = nowNs;
    }

    boolean isFull() {
        return count >= CHOICE;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** The hand comes by an object; true if its mark is to be taken away. */
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

    /** Which of those that were met goes. There is one. */
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
        return versions[a] > versions[b]; // of one shard: larger is younger, across starts and cleaning
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

    /** It is not there any more. */
    void forget(int gone) {
        count--;
        shards[gone] = shards[count];
        positions[gone] = positions[count];
        addresses[gone] = addresses[count];
        versions[gone] = versions[count];
        marked[gone] = marked[count];
        over[gone] = over[count];
    }

    /** One is chosen: the others have been passed. */
    void drop() {
        count = 0;
    }
}
