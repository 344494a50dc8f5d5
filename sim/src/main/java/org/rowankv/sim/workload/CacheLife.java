package org.rowankv.sim.workload;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.rowankv.protocol.CacheLimit;

/** A cache from its creation to its destruction: another one of the same name has another id, and nothing in common with it. */
public final class CacheLife {
    private static final long NEVER = Long.MAX_VALUE;

    private final int cache;
    private final int id;
    private final CacheLimit limit;
    private final int firstHistory;
    private final int[] shards;
    private long destroyBegunNs = NEVER;
    private long destroyedNs = NEVER;
    /** By shard: when a request was first answered that the cache is destroyed. */
    private final Map<Integer, Long> refusedNs = new HashMap<>();

    private boolean isLimitSet;
    private boolean isJudged;

    CacheLife(int cache, int id, CacheLimit limit, int firstHistory, int[] shards) {
        this.cache = cache;
        this.id = id;
        this.limit = limit;
        this.firstHistory = firstHistory;
        this.shards = shards;
    }

    public static byte[] keyBytes(int number) {
        return ("key " + number).getBytes(StandardCharsets.UTF_8);
    }

    /** Its place among the caches of the plan. */
    public int cache() {
        return cache;
    }

    public String name() {
        return WorkloadPlan.nameOf(cache);
    }

    public int id() {
        return id;
    }

    public CacheLimit limit() {
        return limit;
    }

    public int keys() {
        return shards.length;
    }

    /** The key's own history: that of the same key in another life is another one. */
    int history(int number) {
        return firstHistory + number;
    }

    public int shardOf(int number) {
        return shards[number];
    }

    // --- its end ---

    void destroyBegins(long nowNs) {
        destroyBegunNs = Math.min(destroyBegunNs, nowNs);
    }

    void destroyed(long nowNs) {
        destroyedNs = Math.min(destroyedNs, nowNs);
    }

    /** What had begun to destroy it came to nothing. */
    void survived() {
        destroyBegunNs = NEVER;
    }

    void refused(int shard, long returnedNs) {
        refusedNs.merge(shard, returnedNs, Math::min);
    }

    boolean isRefusedAnywhere() {
        return !refusedNs.isEmpty();
    }

    boolean isDestroyBegun() {
        return destroyBegunNs != NEVER;
    }

    long destroyBegunNs() {
        return destroyBegunNs;
    }

    public boolean isDestroyed() {
        return destroyedNs != NEVER;
    }

    /** Whether every request to that shard is refused which begins at that time. */
    boolean mustRefuse(int shard, long invokedNs) {
        return invokedNs > destroyedNs || invokedNs > refusedNs.getOrDefault(shard, NEVER);
    }

    // --- what others note here ---

    void limitIsSet() {
        isLimitSet = true;
    }

    boolean isLimitSet() {
        return isLimitSet;
    }

    /** Its histories are judged, and closed. */
    void judged() {
        isJudged = true;
    }

    boolean isJudged() {
        return isJudged;
    }

    @Override
    public String toString() {
        return "cache '" + name() + "' of id " + id;
    }
}
