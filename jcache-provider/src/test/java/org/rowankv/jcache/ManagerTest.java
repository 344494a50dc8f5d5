package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CyclicBarrier;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.CompleteConfiguration;
import javax.cache.configuration.Configuration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.configuration.OptionalFeature;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.jcache.model.ModelCaches;

class ManagerTest {
    private final ModelCaches caches = new ModelCaches();
    private final CacheManager manager = caches.manager();

    @AfterEach
    void close() {
        caches.close();
    }

    private static MutableConfiguration<Long, Long> longs() {
        return new MutableConfiguration<Long, Long>().setTypes(Long.class, Long.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a/b", "a\nb", "a=b,c:d*?\"", " ", "漢字", "../../etc"})
    void shouldTakeAnyName(String name) {
        final Cache<String, String> cache =
                manager.createCache(name, ModelCaches.strings().setManagementEnabled(true));
        cache.put("k", "v");
        assertThat(manager.getCacheNames()).containsExactly(name);
        assertThat(manager.<String, String>getCache(name).get("k")).isEqualTo("v");
        manager.destroyCache(name);
        assertThat(manager.getCacheNames()).isEmpty();
    }

    @Test
    void shouldRefuseNamesThatAreEmptyOrHuge() {
        for (String name : List.of("", "x".repeat(65_536))) {
            assertThatThrownBy(() -> manager.createCache(name, ModelCaches.strings()))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("1 to 1024 bytes");
            assertThat((Object) manager.getCache(name)).isNull();
            manager.destroyCache(name);
        }
        assertThatThrownBy(() -> manager.createCache("half of \ud83d", ModelCaches.strings()))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("surrogate pair");
    }

    @Test
    void shouldRefuseToOpenANameTwice() {
        final Cache<String, String> first = manager.createCache("c", ModelCaches.strings());
        assertThatThrownBy(() -> manager.createCache("c", longs()))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("open in this cache manager already");
        first.put("k", "v");
        assertThat(first.isClosed()).isFalse();
    }

    @Test
    void shouldShowBothConfigurationsWhenTheStoreHasAnother() {
        manager.createCache("c", ModelCaches.strings()).close();
        assertThatThrownBy(() -> manager.createCache("c", longs()))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("keys java.lang.String")
                .hasMessageContaining("keys java.lang.Long");
        assertThatThrownBy(
                        () -> manager.createCache("c", ModelCaches.strings(new CreatedExpiryPolicy(Duration.ONE_DAY))))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("EternalExpiryPolicy")
                .hasMessageContaining("CreatedExpiryPolicy");
        manager.createCache("c", ModelCaches.strings());
    }

    @Test
    void shouldLetOneOfTwoThreadsCreateAName() throws Exception {
        for (int round = 0; round < 200; round++) {
            final String name = "c" + round;
            final CyclicBarrier barrier = new CyclicBarrier(2);
            final List<Object> created = Collections.synchronizedList(new ArrayList<>());
            final List<Exception> refused = Collections.synchronizedList(new ArrayList<>());
            final List<Thread> threads = new ArrayList<>();
            for (Configuration<?, ?> configuration : List.of(ModelCaches.strings(), longs())) {
                final Thread thread = new Thread(() -> {
                    try {
                        barrier.await();
                        created.add(manager.createCache(name, configuration));
                    } catch (Exception e) {
                        refused.add(e);
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(created).hasSize(1);
            assertThat(refused).hasSize(1).allMatch(e -> e instanceof CacheException);
            assertThat((Object) manager.getCache(name)).isSameAs(created.get(0));
        }
    }

    @Test
    void shouldCheckTypesWhenACacheIsAskedFor() {
        manager.createCache("c", ModelCaches.strings());
        assertThat(manager.getCache("c", String.class, String.class)).isNotNull();
        assertThat(manager.getCache("none", String.class, String.class)).isNull();
        assertThatThrownBy(() -> manager.getCache("c", Long.class, String.class))
                .isInstanceOf(ClassCastException.class)
                .hasMessageContaining("java.lang.Long");
        assertThatThrownBy(() -> manager.getCache("c", String.class, Object.class))
                .isInstanceOf(ClassCastException.class);
        assertThatThrownBy(() -> manager.getCache("c", null, String.class)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void shouldGiveImmutableSnapshotsOfNames() {
        manager.createCache("a", ModelCaches.strings());
        final Iterable<String> names = manager.getCacheNames();
        manager.createCache("b", ModelCaches.strings());
        assertThat(names).containsExactly("a");
        final var iterator = names.iterator();
        iterator.next();
        assertThatThrownBy(iterator::remove).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    @SuppressWarnings("unchecked")
    void shouldNotBeChangedThroughTheConfigurationItWasGiven() {
        final MutableConfiguration<String, String> given = ModelCaches.strings();
        final Cache<String, String> cache = manager.createCache("c", given);
        given.setTypes(String.class, String.class).setReadThrough(true).setStatisticsEnabled(false);
        final CompleteConfiguration<String, String> configuration = cache.getConfiguration(CompleteConfiguration.class);
        assertThat(configuration.isReadThrough()).isFalse();
        assertThat(configuration.isStatisticsEnabled()).isTrue();
        manager.enableStatistics("c", false);
        assertThat(configuration.isStatisticsEnabled()).isFalse();
        assertThatThrownBy(() -> cache.getConfiguration(MutableConfiguration.class))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldRefuseToStoreByReferenceUnlessToldToCopy() {
        assertThat(caches.provider().isSupported(OptionalFeature.STORE_BY_REFERENCE))
                .isFalse();
        final MutableConfiguration<String, byte[]> byReference = new MutableConfiguration<String, byte[]>()
                .setTypes(String.class, byte[].class)
                .setStoreByValue(false);
        assertThatThrownBy(() -> manager.createCache("c", byReference))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("rowan.store-by-reference=copy");
        final CacheManager copying =
                caches.provider().getCacheManager(URI.create("rowan:embedded?store-by-reference=copy"), null);
        final Cache<String, byte[]> cache = copying.createCache("c", byReference);
        final byte[] value = {1};
        cache.put("k", value);
        value[0] = 2;
        assertThat(cache.get("k")).containsExactly(1);
    }

    @Test
    void shouldUnwrapToItsOwnTypesOnly() {
        final Cache<String, String> cache = manager.createCache("c", ModelCaches.strings());
        assertThat(manager.unwrap(RowanCacheManager.class)).isSameAs(manager);
        assertThat((Object) cache.unwrap(RowanCache.class)).isSameAs(cache);
        assertThatThrownBy(() -> manager.unwrap(String.class)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> cache.unwrap(String.class)).isInstanceOf(IllegalArgumentException.class);
        assertThat(cache.getCacheManager()).isSameAs(manager);
    }

    @Test
    void shouldRefuseUnknownSettingsInPropertiesAndUris() {
        assertThatThrownBy(() -> caches.provider().getCacheManager(URI.create("rowan:embedded?color=red"), null))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("color")
                .hasMessageContaining("servers");
        assertThatThrownBy(() -> new ModelCaches(ModelCaches.properties("rowan.color", "red")))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("rowan.color");
        final Properties number = new Properties();
        number.put("rowan.servers", 3);
        assertThatThrownBy(() -> new ModelCaches(number))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("rowan.servers")
                .hasMessageContaining("java.lang.Integer");
    }
}
