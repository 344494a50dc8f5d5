package org.rowankv.jcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.util.Arrays;
import java.util.Properties;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.management.CacheStatisticsMXBean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.jcache.operation.CacheFullException;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** Caches that give way when their store is full, and those that do not. */
@Timeout(300)
final class WhenFullTest {
    private final RowanCachingProvider provider = new RowanCachingProvider();

    @AfterEach
    void close() {
        provider.close();
    }

    private CacheManager manager(String settings) {
        final Properties properties = new Properties();
        properties.setProperty("rowan.template.*.when-full", "evict");
        properties.setProperty("rowan.template.refusing.when-full", "refuse");
        return provider.getCacheManager(URI.create("rowan:embedded?name=when-full&" + settings), null, properties);
    }

    private static Cache<Integer, byte[]> cache(CacheManager manager, String name) {
        return manager.createCache(
                name,
                new MutableConfiguration<Integer, byte[]>()
                        .setTypes(Integer.class, byte[].class)
                        .setStatisticsEnabled(true));
    }

    private static byte[] value(int number, int length) {
        final byte[] value = new byte[length];
        Arrays.fill(value, (byte) number);
        return value;
    }

    private static void fill(Cache<Integer, byte[]> cache, int count, int length) {
        for (int i = 0; i < count; i++) {
            cache.put(i, value(i, length));
        }
    }

    private static int present(Cache<Integer, byte[]> cache, int count, int length) {
        int present = 0;
        for (int i = 0; i < count; i++) {
            final byte[] found = cache.get(i);
            if (found != null) {
                assertThat(found).isEqualTo(value(i, length));
                present++;
            }
        }
        return present;
    }

    private static long evictions(Cache<?, ?> cache) {
        return cache.unwrap(CacheStatisticsMXBean.class).getCacheEvictions();
    }

    /** Several times what the store holds: of small and of large values, with and without replicas. */
    @ParameterizedTest
    @CsvSource({
        "capacity=16m, 400000, 1",
        "capacity=16m, 6000, 10000",
        "capacity=32m&segment=1m&workers=2, 300, 400000",
        "capacity=16m&servers=2&replicas=2&shards=16&workers=2, 6000, 10000"
    })
    void shouldNeverRefuseAPut(String settings, int count, int length) {
        final Cache<Integer, byte[]> cache = cache(manager(settings), "books");
        fill(cache, count, length);
        final int present = present(cache, count, length);
        System.out.println(settings + " length=" + length + " put=" + count + " present=" + present + " evictions="
                + evictions(cache));
        assertThat(present).isBetween(count / 100, count - 1);
        assertThat(evictions(cache)).isPositive();
    }

    /** Else a cache that is not used any more would keep the others small for ever. */
    @Test
    void shouldTakeSpaceFromTheLargestCache() {
        final CacheManager manager = manager("capacity=16m");
        final Cache<Integer, byte[]> idle = cache(manager, "idle");
        final Cache<Integer, byte[]> busy = cache(manager, "busy");
        fill(idle, 3_000, 10_000);
        final int before = present(idle, 3_000, 10_000);
        fill(busy, 300, 10_000);
        assertThat(present(busy, 300, 10_000)).isEqualTo(300);
        assertThat(present(idle, 3_000, 10_000)).isLessThan(before);
        assertThat(evictions(busy)).isZero();
    }

    @Test
    void shouldEvictNothingWhileThereIsSpace() {
        final Cache<Integer, byte[]> cache = cache(manager("capacity=16m"), "books");
        fill(cache, 300, 10_000);
        assertThat(present(cache, 300, 10_000)).isEqualTo(300);
        assertThat(evictions(cache)).isZero();
    }

    /** What is not marked so is never evicted. */
    @Test
    void shouldRefuseWhereNothingSaysOtherwise() {
        final CacheManager manager = manager("capacity=16m");
        final Cache<Integer, byte[]> refusing = cache(manager, "refusing");
        assertThatThrownBy(() -> fill(refusing, 3_000, 10_000)).isInstanceOf(CacheFullException.class);
        assertThat(evictions(refusing)).isZero();
    }
}
