package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.CompleteConfiguration;
import javax.cache.configuration.Configuration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import javax.cache.expiry.ModifiedExpiryPolicy;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.model.ModelCaches;

/** Caches configured by name, for applications that configure none. */
class TemplateCachesTest {
    private ModelCaches caches;

    @AfterEach
    void close() {
        caches.close();
    }

    private CacheManager manager(String... pairs) {
        final Properties properties = new Properties();
        for (int i = 0; i < pairs.length; i += 2) {
            properties.setProperty("rowan.template." + pairs[i], pairs[i + 1]);
        }
        caches = new ModelCaches(properties);
        return caches.manager();
    }

    @SuppressWarnings("unchecked") // a class literal has no type parameters
    private static CompleteConfiguration<?, ?> configurationOf(Cache<?, ?> cache) {
        return ((Cache<Object, Object>) cache).getConfiguration(CompleteConfiguration.class);
    }

    private static boolean hasBean(String type, String cacheName) throws Exception {
        return ManagementFactory.getPlatformMBeanServer()
                .isRegistered(
                        new ObjectName("javax.cache:type=" + type + ",CacheManager=rowan.embedded,Cache=" + cacheName));
    }

    /** As an object-relational mapper does for a region without a configuration. */
    @Test
    void shouldConfigureWhatIsCreatedWithoutAConfiguration() throws Exception {
        final CacheManager manager = manager(
                "com.acme.*.expiry", "modified:10m",
                "com.acme.*.statistics", "true",
                "com.acme.*.management", "true",
                "com.acme.*.key-type", "java.lang.String",
                "com.acme.*.value-type", "byte[]");
        final Cache<Object, Object> region = manager.createCache("com.acme.Order", new MutableConfiguration<>());
        final CompleteConfiguration<?, ?> configuration = configurationOf(region);
        assertThat(configuration.getKeyType()).isEqualTo(String.class);
        assertThat(configuration.getValueType()).isEqualTo(byte[].class);
        assertThat(configuration.getExpiryPolicyFactory().create())
                .isEqualTo(new ModifiedExpiryPolicy(Duration.TEN_MINUTES));
        assertThat(configuration.isStatisticsEnabled()).isTrue();
        assertThat(hasBean("CacheStatistics", "com.acme.Order")).isTrue();
        assertThat(hasBean("CacheConfiguration", "com.acme.Order")).isTrue();
        region.put("k", new byte[1]);
        caches.clock().advanceMs(TimeUnit.MINUTES.toMillis(10) - 1);
        assertThat(region.containsKey("k")).isTrue();
        caches.clock().advanceMs(1);
        assertThat(region.containsKey("k")).isFalse();
        assertThat(configurationOf(manager.createCache("org.acme.Order", new MutableConfiguration<>()))
                        .isStatisticsEnabled())
                .as("no template matches")
                .isFalse();
    }

    @Test
    void shouldOverrideNothingThatTheApplicationSet() {
        final CacheManager manager = manager(
                "*.expiry", "modified:10m",
                "*.statistics", "false",
                "*.management", "false",
                "*.key-type", "java.lang.String",
                "*.value-type", "byte[]");
        final CompleteConfiguration<?, ?> configuration = configurationOf(manager.createCache(
                "c",
                new MutableConfiguration<Long, Long>()
                        .setTypes(Long.class, Long.class)
                        .setStatisticsEnabled(true)
                        .setManagementEnabled(true)
                        .setReadThrough(true)
                        .setExpiryPolicyFactory(CreatedExpiryPolicy.factoryOf(Duration.ONE_DAY))));
        assertThat(configuration.getKeyType()).isEqualTo(Long.class);
        assertThat(configuration.getValueType()).isEqualTo(Long.class);
        assertThat(configuration.isStatisticsEnabled()).isTrue();
        assertThat(configuration.isManagementEnabled()).isTrue();
        assertThat(configuration.isReadThrough()).isTrue();
        assertThat(configuration.getExpiryPolicyFactory().create())
                .isEqualTo(new CreatedExpiryPolicy(Duration.ONE_DAY));
    }

    @Test
    void shouldConfigureWhatHasOnlyTypes() {
        final CacheManager manager = manager("*.expiry", "modified:10m");
        final Configuration<String, String> typesOnly = new Configuration<>() {
            private static final long serialVersionUID = 1L;

            @Override
            public Class<String> getKeyType() {
                return String.class;
            }

            @Override
            public Class<String> getValueType() {
                return String.class;
            }

            @Override
            public boolean isStoreByValue() {
                return true;
            }
        };
        final CompleteConfiguration<?, ?> configuration = configurationOf(manager.createCache("c", typesOnly));
        assertThat(configuration.getKeyType()).isEqualTo(String.class);
        assertThat(configuration.getExpiryPolicyFactory().create())
                .isEqualTo(new ModifiedExpiryPolicy(Duration.TEN_MINUTES));
    }

    /** As a framework that only looks caches up. */
    @Test
    void shouldCreateOnLookUpOnlyWhereATemplateSaysSo() {
        final CacheManager manager =
                manager("books*.create", "true", "books*.statistics", "true", "films.expiry", "eternal");
        assertThat((Object) manager.getCache("films")).isNull();
        assertThat((Object) manager.getCache("music")).isNull();
        assertThat(manager.getCacheNames()).isEmpty();
        final Cache<Object, Object> books = manager.getCache("books");
        books.put("k", "v");
        assertThat(configurationOf(books).isStatisticsEnabled()).isTrue();
        assertThat((Object) manager.getCache("books")).isSameAs(books);
        assertThat(manager.getCacheNames()).containsExactly("books");
        assertThatThrownBy(() -> manager.createCache("books", new MutableConfiguration<>()))
                .isInstanceOf(CacheException.class);
        books.close();
        assertThat(manager.getCache("books").get("k")).as("opened again").isEqualTo("v");
        manager.destroyCache("books");
        assertThat(manager.getCache("books").get("k")).as("created again").isNull();
        manager.close();
        assertThatThrownBy(() -> manager.getCache("books")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldCreateOnLookUpWithTheTypesAskedForWhereTheTemplateSaysNone() {
        final CacheManager manager =
                manager("books.create", "true", "*s.create", "true", "*s.key-type", "java.lang.String");
        final Cache<Long, String> books = manager.getCache("books", Long.class, String.class);
        books.put(1L, "v");
        assertThat(configurationOf(books).getKeyType()).isEqualTo(Long.class);
        assertThatThrownBy(() -> manager.getCache("films", Long.class, String.class))
                .isInstanceOf(ClassCastException.class)
                .hasMessageContaining("java.lang.String");
        assertThat(manager.getCacheNames()).as("nothing of other types is left").containsExactly("books");
        assertThat(manager.getCache("films", String.class, String.class)).isNotNull();
        assertThat(configurationOf(manager.getCache("songs")).getKeyType()).isEqualTo(String.class);
    }

    @Test
    void shouldGiveThreadsThatLookUpTogetherOneCache() throws Exception {
        final CacheManager manager = manager("*.create", "true");
        for (int round = 0; round < 200; round++) {
            final String name = "c" + round;
            final CyclicBarrier barrier = new CyclicBarrier(3);
            final List<Object> found = Collections.synchronizedList(new ArrayList<>());
            final List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                final Thread thread = new Thread(() -> {
                    try {
                        barrier.await();
                        found.add(manager.getCache(name));
                    } catch (Exception e) {
                        found.add(e);
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(new HashSet<>(found)).hasSize(1).allMatch(each -> each instanceof Cache);
        }
    }

    @Test
    void shouldLeaveNoStoreOpenWhenATemplateIsWrong() {
        manager();
        assertThatThrownBy(() -> caches.provider()
                        .getCacheManager(
                                null,
                                new ClassLoader() {},
                                ModelCaches.properties("rowan.template.books.key-type", "no.such.Type")))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("no.such.Type");
        caches.manager().close();
        assertThat(caches.provider().opened()).hasSize(1).allMatch(store -> store.isClosed());
    }
}
