package org.rowankv.jcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import javax.cache.Cache;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.expiry.Duration;
import javax.cache.expiry.TouchedExpiryPolicy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** An operation from cache to log allocates nothing but the value it returns. */
@Tag("jvm")
class AllocationTest {
    private static final int OPERATIONS = 20_000;
    /** A byte array of 70 bytes with its header, in whole words. */
    private static final long VALUE_BYTES = 88;

    private final RowanCachingProvider provider = new RowanCachingProvider();
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final String[] keys = new String[512];
    private final byte[] value = new byte[70];

    @AfterEach
    void close() {
        provider.close();
    }

    private Cache<String, byte[]> cache(MutableConfiguration<String, byte[]> configuration) {
        for (int i = 0; i < keys.length; i++) {
            keys[i] = "user" + i;
        }
        return provider.getCacheManager()
                .createCache(
                        "c" + configuration.isStatisticsEnabled(), configuration.setTypes(String.class, byte[].class));
    }

    private interface Step {
        void run(String key);
    }

    /** Bytes per operation, after warm-up. */
    private double allocated(Step step) {
        double least = Double.MAX_VALUE;
        for (int round = 0; round < 10; round++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < OPERATIONS; i++) {
                step.run(keys[i & keys.length - 1]);
            }
            least = Math.min(least, (threads.getCurrentThreadAllocatedBytes() - before) / (double) OPERATIONS);
        }
        return least;
    }

    @Test
    void shouldAllocateTheValueOnly() {
        final Cache<String, byte[]> cache = cache(new MutableConfiguration<>());
        assertThat(allocated(key -> cache.put(key, value))).isLessThan(2);
        assertThat(allocated(key -> assertThatIsThere(cache.get(key)))).isLessThan(VALUE_BYTES + 2);
        assertThat(allocated(key -> assertThatIs(cache.containsKey(key)))).isLessThan(2);
        assertThat(allocated(key -> assertThatIs(cache.replace(key, value)))).isLessThan(2);
        assertThat(allocated(cache::remove)).isLessThan(2);
    }

    @Test
    void shouldAllocateNoMoreWithStatisticsAndExpiry() {
        final Cache<String, byte[]> cache = cache(new MutableConfiguration<String, byte[]>()
                .setStatisticsEnabled(true)
                .setExpiryPolicyFactory(TouchedExpiryPolicy.factoryOf(Duration.ONE_HOUR)));
        assertThat(allocated(key -> cache.put(key, value))).isLessThan(2);
        assertThat(allocated(key -> assertThatIsThere(cache.get(key)))).isLessThan(VALUE_BYTES + 2);
    }

    /** The name of its class, and its fields as objects. */
    @Test
    void shouldAllocateLittleForAKeyThatIsARecord() {
        final Cache<Name, byte[]> cache = provider.getCacheManager()
                .createCache("names", new MutableConfiguration<Name, byte[]>().setTypes(Name.class, byte[].class));
        assertThat(allocated(key -> assertThatIs(!cache.containsKey(new Name(key, 1)))))
                .isLessThan(400);
    }

    private record Name(String text, int number) {}

    private static void assertThatIsThere(byte[] read) {
        assertThatIs(read != null);
    }

    private static void assertThatIs(boolean condition) {
        if (!condition) {
            throw new AssertionError();
        }
    }
}
