package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import javax.cache.management.CacheStatisticsMXBean;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.management.Statistics;
import org.rowankv.jcache.model.ModelCaches;

@Tag("jvm")
class StatisticsTest {
    private final ModelCaches caches = new ModelCaches();
    private final Cache<String, String> cache =
            caches.create(ModelCaches.strings(new CreatedExpiryPolicy(new Duration(TimeUnit.SECONDS, 1))));
    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

    @AfterEach
    void close() {
        caches.close();
    }

    private ObjectName bean(String type) throws Exception {
        return new ObjectName("javax.cache:type=" + type + ",CacheManager=rowan.embedded,Cache=" + cache.getName());
    }

    private Object read(String attribute) throws Exception {
        return server.getAttribute(bean("CacheStatistics"), attribute);
    }

    private void counts(Runnable operation, long hits, long misses, long puts, long removals) throws Exception {
        server.invoke(bean("CacheStatistics"), "clear", null, null);
        operation.run();
        assertThat(new Object[] {read("CacheHits"), read("CacheMisses"), read("CachePuts"), read("CacheRemovals")})
                .containsExactly(hits, misses, puts, removals);
        assertThat(read("CacheGets")).isEqualTo(hits + misses);
    }

    @Test
    void shouldBeReadWithoutAnMBean() {
        cache.put("k", "v");
        cache.get("k");

        assertThat(cache.unwrap(CacheStatisticsMXBean.class).getCacheHits()).isEqualTo(1);
        assertThatThrownBy(() -> cache.unwrap(ObjectName.class)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldCountAtOnceWhatEachOperationMeets() throws Exception {
        counts(() -> cache.get("k"), 0, 1, 0, 0);
        counts(() -> cache.put("k", "v"), 0, 0, 1, 0);
        counts(() -> cache.get("k"), 1, 0, 0, 0);
        counts(() -> cache.containsKey("k"), 0, 0, 0, 0);
        counts(() -> cache.getAll(Set.of("k", "l")), 1, 1, 0, 0);
        counts(() -> cache.getAndPut("k", "v"), 1, 0, 1, 0);
        counts(() -> cache.getAndPut("l", "v"), 0, 1, 1, 0);
        counts(() -> cache.putAll(Map.of("k", "v", "l", "v")), 0, 0, 2, 0);
        counts(() -> cache.putIfAbsent("k", "v"), 1, 0, 0, 0);
        counts(() -> cache.putIfAbsent("m", "v"), 0, 1, 1, 0);
        counts(() -> cache.replace("k", "v"), 1, 0, 1, 0);
        counts(() -> cache.replace("none", "v"), 0, 1, 0, 0);
        counts(() -> cache.replace("k", "v", "v"), 1, 0, 1, 0);
        counts(() -> cache.replace("k", "other", "v"), 1, 0, 0, 0);
        counts(() -> cache.replace("none", "other", "v"), 0, 1, 0, 0);
        counts(() -> cache.getAndReplace("k", "v"), 1, 0, 1, 0);
        counts(() -> cache.getAndReplace("none", "v"), 0, 1, 0, 0);
        counts(() -> cache.remove("k", "other"), 1, 0, 0, 0);
        counts(() -> cache.remove("none", "other"), 0, 1, 0, 0);
        counts(() -> cache.remove("k", "v"), 1, 0, 0, 1);
        counts(() -> cache.remove("none"), 0, 0, 0, 0);
        counts(() -> cache.remove("l"), 0, 0, 0, 1);
        counts(() -> cache.getAndRemove("m"), 1, 0, 0, 1);
        counts(() -> cache.getAndRemove("m"), 0, 1, 0, 0);
        counts(() -> cache.putAll(Map.of("a", "1", "b", "2")), 0, 0, 2, 0);
        counts(() -> cache.iterator().next(), 1, 0, 0, 0);
        counts(() -> cache.removeAll(Set.of("a", "none")), 0, 0, 0, 1);
        counts(cache::removeAll, 0, 0, 0, 1);
        counts(() -> cache.put("a", "1"), 0, 0, 1, 0);
        counts(cache::clear, 0, 0, 0, 0);
    }

    @Test
    void shouldCountProcessorsByWhatTheyMeetAndDo() throws Exception {
        counts(() -> cache.invoke("k", (entry, arguments) -> null), 0, 1, 0, 0);
        counts(() -> cache.invoke("k", (entry, arguments) -> set(entry)), 0, 1, 1, 0);
        counts(() -> cache.invoke("k", (entry, arguments) -> null), 1, 0, 0, 0);
        counts(() -> cache.invoke("k", (entry, arguments) -> set(entry)), 1, 0, 1, 0);
        counts(() -> cache.invoke("k", (entry, arguments) -> remove(entry)), 1, 0, 0, 1);
        counts(() -> cache.invoke("k", (entry, arguments) -> remove(entry)), 0, 1, 0, 0);
    }

    private static Object set(javax.cache.processor.MutableEntry<String, String> entry) {
        entry.setValue("v");
        return null;
    }

    private static Object remove(javax.cache.processor.MutableEntry<String, String> entry) {
        entry.remove();
        return null;
    }

    @Test
    void shouldNotTakeExpiriesForRemovalsOrHits() throws Exception {
        cache.put("k", "v");
        caches.clock().advanceMs(1_000);
        counts(() -> cache.get("k"), 0, 1, 0, 0);
        cache.put("k", "v");
        caches.clock().advanceMs(1_000);
        counts(() -> cache.remove("k"), 0, 0, 0, 0);
        cache.put("k", "v");
        caches.clock().advanceMs(1_000);
        counts(cache::removeAll, 0, 0, 0, 0);
    }

    @Test
    void shouldShowPercentagesAndTimesThatAreNeverNegative() throws Exception {
        server.invoke(bean("CacheStatistics"), "clear", null, null);
        assertThat(read("CacheHitPercentage")).isEqualTo(0f);
        cache.put("k", "v");
        cache.get("k");
        cache.get("k");
        cache.get("k");
        cache.get("none");
        cache.remove("k");
        assertThat(read("CacheHitPercentage")).isEqualTo(75f);
        assertThat(read("CacheMissPercentage")).isEqualTo(25f);
        assertThat(read("CacheEvictions")).isEqualTo(0L);
        for (String time : new String[] {"AverageGetTime", "AveragePutTime", "AverageRemoveTime"}) {
            assertThat((Float) read(time)).isNotNegative();
        }
    }

    /** A new version of an application opens its caches before the old one ends. */
    @Test
    void shouldShowTheBeansOfTheNextOpeningWhenTheFirstIsGone() throws Exception {
        caches.manager().enableManagement(cache.getName(), true);
        cache.put("k", "v");
        final CacheManager redeployed = caches.provider()
                .getCacheManager(null, new ClassLoader(getClass().getClassLoader()) {});
        final Cache<String, String> again = redeployed.createCache(
                cache.getName(),
                ModelCaches.strings(new CreatedExpiryPolicy(new Duration(TimeUnit.SECONDS, 1)))
                        .setManagementEnabled(true));
        again.get("k");
        again.get("none");
        assertThat(read("CachePuts")).as("the first opening's").isEqualTo(1L);
        caches.manager().close();
        assertThat(read("CachePuts")).isEqualTo(0L);
        assertThat(read("CacheGets")).isEqualTo(2L);
        assertThat(server.isRegistered(bean("CacheConfiguration"))).isTrue();
        redeployed.close();
        assertThat(server.queryNames(new ObjectName("javax.cache:*"), null)).isEmpty();
    }

    @Test
    void shouldLeaveABeanAloneThatIsNotItsOwn() throws Exception {
        caches.manager().enableStatistics(cache.getName(), false);
        final ObjectName name = bean("CacheStatistics");
        server.registerMBean(new Statistics(caches.clock(), () -> 0), name);
        caches.manager().enableStatistics(cache.getName(), true);
        cache.close();
        assertThat(server.isRegistered(name)).isTrue();
        server.unregisterMBean(name);
    }

    @Test
    void shouldShowTheBeansWhileEnabledAndNoLonger() throws Exception {
        assertThat(server.isRegistered(bean("CacheStatistics"))).isTrue();
        assertThat(server.isRegistered(bean("CacheConfiguration"))).isFalse();
        caches.manager().enableManagement(cache.getName(), true);
        assertThat(server.getAttribute(bean("CacheConfiguration"), "KeyType")).isEqualTo("java.lang.String");
        assertThat(server.getAttribute(bean("CacheConfiguration"), "StatisticsEnabled"))
                .isEqualTo(true);
        caches.manager().enableStatistics(cache.getName(), false);
        assertThat(server.isRegistered(bean("CacheStatistics"))).isFalse();
        assertThat(server.getAttribute(bean("CacheConfiguration"), "StatisticsEnabled"))
                .isEqualTo(false);
        caches.manager().enableManagement(cache.getName(), true);
        cache.close();
        assertThat(server.queryNames(new ObjectName("javax.cache:*"), null)).isEmpty();
    }
}
