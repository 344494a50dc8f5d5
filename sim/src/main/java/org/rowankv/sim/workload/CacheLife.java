package org.rowankv.sim.workload;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.rowankv.protocol.CacheLimit;

/**
 * One life of a cache, from creation to destruction. The next cache of the same name has another id, and is unrelated.
 */
public final class CacheLife {
    private static final long NEVER = Long.MAX_VALUE;

    private final int cache;
    private final int id;
    private final CacheLimit limit;
    private final int firstHistory;
    private final int[] shards;
    private long destroyBegunNs = NEVER;
    private long destroyedNs = NEVER;
    /** By shard: when a request was first refused because the cache is destroyed. */
    private final Map<Integer, Long> refusedNs = new HashMap<>();

    private boolean isLimitSet;
    private boolean isChecked;

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

    /** Its index among the caches of the plan. */
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

    /** The key's own history; the same key in another life has a separate one. */
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

    /** The destruction in progress was abandoned. */
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

    /** Whether the shard must refuse every request that begins at that time. */
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

    /** Its histories are checked and closed. */
    void checked() {
        isChecked = true;
    }

    boolean isChecked() {
        return isChecked;
    }

    @Override
    public String toString() {
        return "cache '" + name() + "' of id " + id;
    }
}
