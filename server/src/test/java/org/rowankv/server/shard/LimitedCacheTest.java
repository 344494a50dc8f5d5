package org.rowankv.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.protocol.CacheLimit;

final class LimitedCacheTest {
    private static final int CACHE = 3;
    private static final int CHARGE = 64;

    private static CacheCounts[] shards(int count) {
        final CacheCounts[] shards = new CacheCounts[count];
        for (int i = 0; i < count; i++) {
            shards[i] = new CacheCounts();
            shards[i].ensure(CACHE);
        }
        return shards;
    }

    /** The number of objects that a server holds without evicting any. */
    private static int taken(CacheLimit limit, int own, int shardCount) {
        final CacheCounts[] shards = shards(own);
        final LimitedCache cache = new LimitedCache(CACHE, "a", limit, shards, shardCount, () -> {});
        int objects = 0;
        while (!cache.look()) {
            shards[objects++ % own].replaced(CACHE, 0, CHARGE);
        }
        return objects - 1;
    }

    @Test
    void shouldTakeTheWholeLimitWhereOneServerHasAllShards() {
        for (int limit = 1; limit < 100; limit++) {
            assertThat(taken(new CacheLimit(limit, CacheLimit.NO_LIMIT), 8, 8)).isEqualTo(limit);
            assertThat(taken(new CacheLimit(CacheLimit.NO_LIMIT, (long) limit * CHARGE), 8, 8))
                    .isEqualTo(limit);
        }
    }

    /** Rounded down, but at least one object. */
    @Test
    void shouldDivideTheLimitByTheShardsOfEachServer() {
        for (int limit = 1; limit < 100; limit++) {
            assertThat(taken(new CacheLimit(limit, CacheLimit.NO_LIMIT), 5, 12)).isEqualTo(Math.max(1, limit * 5 / 12));
        }
    }

    @Test
    void shouldGoOnUntilAHundredthBelowTheLimit() {
        final CacheCounts[] shards = shards(2);
        final LimitedCache cache =
                new LimitedCache(CACHE, "a", new CacheLimit(200, CacheLimit.NO_LIMIT), shards, 2, () -> {});
        for (int i = 0; i < 199; i++) {
            shards[i % 2].replaced(CACHE, 0, CHARGE);
        }
        assertThat(cache.isEnough()).isFalse();
        shards[0].removed(CACHE, CHARGE);
        assertThat(cache.isEnough()).isTrue();
    }
}
