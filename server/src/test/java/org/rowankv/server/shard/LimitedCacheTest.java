package org.rowankv.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.server.log.Space;

final class LimitedCacheTest {
    private static final int CACHE = 3;
    private static final int CHARGE = 64;
    private static final SharedLimit NOTHING_SHARED = new SharedLimit(() -> 0, new Space(0));

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
        final LimitedCache cache =
                new LimitedCache(CACHE, "a", limit, () -> shards, shardCount, () -> {}, NOTHING_SHARED);
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
        final LimitedCache cache = new LimitedCache(
                CACHE, "a", new CacheLimit(200, CacheLimit.NO_LIMIT), () -> shards, 2, () -> {}, NOTHING_SHARED);
        for (int i = 0; i < 199; i++) {
            shards[i % 2].replaced(CACHE, 0, CHARGE);
        }
        assertThat(cache.isEnough()).isFalse();
        shards[0].removed(CACHE, CHARGE);
        assertThat(cache.isEnough()).isTrue();
    }

    @Test
    void shouldTakeTheShareOfTheShardsThatTheServerHasNow() {
        final CacheCounts[][] own = {shards(1)};
        final LimitedCache cache = new LimitedCache(
                CACHE, "a", new CacheLimit(200, CacheLimit.NO_LIMIT), () -> own[0], 2, () -> {}, NOTHING_SHARED);
        for (int i = 0; i < 101; i++) {
            own[0][0].replaced(CACHE, 0, CHARGE);
        }
        assertThat(cache.isEnough()).as("101 of 100").isFalse();
        own[0] = new CacheCounts[] {own[0][0], shards(1)[0]};
        assertThat(cache.isEnough()).as("101 of 200").isTrue();
        own[0] = new CacheCounts[0];
        assertThat(cache.objects()).isZero();
        assertThat(cache.look()).as("without a shard").isFalse();
    }

    /** Two caches that share 100 objects, in a space that is nearly full. */
    private static final class Sharing {
        final CacheCounts[] shards = shards(1);
        final Space space = new Space(1_000);
        final SharedLimit shared = new SharedLimit(() -> 100 * CHARGE, space);
        final CacheLimit limit = new CacheLimit(CacheLimit.NO_LIMIT, CacheLimit.SHARED);
        final LimitedCache small = new LimitedCache(1, "small", limit, () -> shards, 1, () -> {}, shared);
        final LimitedCache large = new LimitedCache(2, "large", limit, () -> shards, 1, () -> {}, shared);

        Sharing() {
            shards[0].ensure(2);
            shared.caches(List.of(small, large));
            space.take(900);
        }

        void put(LimitedCache cache, int objects) {
            for (int i = 0; i < objects; i++) {
                shards[0].replaced(cache.id(), 0, CHARGE);
            }
        }

        void evict(LimitedCache cache, int objects) {
            for (int i = 0; i < objects; i++) {
                shards[0].removed(cache.id(), CHARGE);
            }
        }
    }

    @Test
    void shouldEvictTheLargestOfTheCachesThatShareALimit() {
        final Sharing sharing = new Sharing();
        sharing.put(sharing.large, 80);
        sharing.put(sharing.small, 20);
        assertThat(sharing.small.look()).as("at the limit").isFalse();
        sharing.put(sharing.small, 1);
        assertThat(sharing.small.look()).isTrue();
        assertThat(sharing.large.isCheckRequested()).isTrue();
        assertThat(sharing.small.isCheckRequested()).isFalse();
        assertThat(sharing.small.look()).as("requested already").isFalse();
        assertThat(sharing.large.isEnough()).isFalse();
        sharing.evict(sharing.large, 2);
        assertThat(sharing.large.isEnough()).isTrue();
        assertThat(sharing.large.rest()).isFalse();
    }

    @Test
    void shouldTurnToAnotherCacheThatHasBecomeTheLargest() {
        final Sharing sharing = new Sharing();
        sharing.put(sharing.large, 60);
        sharing.put(sharing.small, 58);
        assertThat(sharing.small.look()).isTrue();
        sharing.evict(sharing.large, 3);
        assertThat(sharing.large.isEnough()).as("not by one object").isFalse();
        sharing.evict(sharing.large, 2);
        assertThat(sharing.large.isEnough()).isTrue();
        assertThat(sharing.large.rest()).as("the other's turn").isTrue();
        assertThat(sharing.small.isCheckRequested()).isTrue();
    }

    @Test
    void shouldLetPutsWaitFarAboveASharedLimitUnlessNothingCanBeEvicted() {
        final Sharing sharing = new Sharing();
        sharing.put(sharing.large, 111);
        assertThat(sharing.small.mustWait()).isFalse();
        assertThat(sharing.small.look()).isTrue();
        assertThat(sharing.small.mustWait()).isTrue();
        sharing.large.stuck(true);
        assertThat(sharing.small.mustWait()).isFalse();
        sharing.large.stuck(false);
        sharing.evict(sharing.large, 5);
        assertThat(sharing.large.isEnough()).isFalse();
        assertThat(sharing.small.mustWait()).isFalse();
    }

    /** While there is room, nothing is counted and nothing evicted. */
    @Test
    void shouldNotEvictFromAShareOfASpaceThatIsHalfFree() {
        final Sharing sharing = new Sharing();
        sharing.put(sharing.large, 200);
        sharing.space.release(500);
        assertThat(sharing.large.look()).isFalse();
        sharing.space.take(200);
        assertThat(sharing.large.look()).isTrue();
    }
}
