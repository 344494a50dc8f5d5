package org.rowankv.server.digest;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * The charges of what landed here, for which its sender had acquired credit: by shard, of its primary, and by server, of
 * shards that it has handed over. For the agents of its server.
 */
final class DrawnCredit {
    private static final int NONE = -1;

    private final long[] ofShard;
    private final Map<Integer, Long> ofFormer = new HashMap<>();
    /** By shard: the server that drew what is counted, if it has been excluded, or another one is the primary by now. */
    private final AtomicIntegerArray leaving;

    DrawnCredit(int shards) {
        final int[] none = new int[shards];
        Arrays.fill(none, NONE);
        this.ofShard = new long[shards];
        this.leaving = new AtomicIntegerArray(none);
    }

    void add(int shard, long charge) {
        ofShard[shard] += charge;
    }

    /** The primary hands the shard over, or is excluded. Any thread. */
    void losesShard(int shard, int former) {
        leaving.compareAndSet(shard, NONE, former); // if not, it has come and gone without a primary that sent anything
    }

    /** All that a former primary sent has landed, and nothing of the next one. */
    void beginEpoch(int shard) {
        final int former = leaving.getAndSet(shard, NONE);
        if (former != NONE) {
            ofFormer.merge(former, ofShard[shard], Long::sum);
            ofShard[shard] = 0;
        }
    }

    /** Whether that server, which has the shard no more, drew what is counted for it. */
    boolean isOf(int shard, int server) {
        return leaving.get(shard) == server;
    }

    /** What is counted for a shard, which begins anew. */
    long take(int shard) {
        final long taken = ofShard[shard];
        ofShard[shard] = 0;
        leaving.set(shard, NONE);
        return taken;
    }

    /** Of the shards that it has handed over. */
    long takeFormer(int server) {
        final @Nullable Long taken = ofFormer.remove(server);
        return taken == null ? 0 : taken;
    }
}
