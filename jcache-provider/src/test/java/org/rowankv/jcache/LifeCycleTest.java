package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Closeable;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.expiry.Duration;
import javax.cache.expiry.ExpiryPolicy;
import javax.cache.integration.CacheLoader;
import javax.cache.integration.CacheWriter;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.jcache.model.ModelCaches;
import org.rowankv.jcache.model.ModelCachingProvider;

/** Opening and closing of providers, managers and caches, in any order. */
@Tag("jvm")
class LifeCycleTest {
    private final ModelCachingProvider provider = new ModelCachingProvider();

    @AfterEach
    void close() throws Exception {
        provider.close();
        assertThat(ManagementFactory.getPlatformMBeanServer().queryNames(new ObjectName("javax.cache:*"), null))
                .isEmpty();
    }

    static Stream<Arguments> orders() {
        final List<String> parts = List.of("cache", "manager", "provider");
        final List<Arguments> orders = new ArrayList<>();
        for (String first : parts) {
            for (String second : parts) {
                for (String third : parts) {
                    orders.add(Arguments.of(first, second, third));
                }
            }
        }
        return orders.stream();
    }

    @ParameterizedTest
    @MethodSource("orders")
    void shouldCloseInAnyOrderAndTwice(String first, String second, String third) {
        final CacheManager manager = provider.getCacheManager();
        final Cache<String, String> cache =
                manager.createCache("c", ModelCaches.strings().setManagementEnabled(true));
        cache.put("k", "v");
        final Map<String, Runnable> closers = new LinkedHashMap<>();
        closers.put("cache", cache::close);
        closers.put("manager", manager::close);
        closers.put("provider", provider::close);
        for (String part : List.of(first, second, third)) {
            closers.get(part).run();
            assertThat(cache.isClosed()).isTrue();
            if (!"cache".equals(part)) {
                assertThat(manager.isClosed()).isTrue();
            }
        }
        assertThatThrownBy(() -> cache.get("k")).isInstanceOf(IllegalStateException.class);
        provider.close();
        assertThat(manager.isClosed()).isTrue();
        final CacheManager next = provider.getCacheManager();
        assertThat(next).isNotSameAs(manager);
        assertThat(next.getCacheNames()).isEmpty();
        assertThat(next.<String, String>getCache("c")).isNull();
        assertThat(next.createCache("c", ModelCaches.strings()).get("k"))
                .as("a store in memory ends with its last manager")
                .isNull();
    }

    @Test
    void shouldKeepEntriesWhenACacheIsClosedAndEndThemWhenItIsDestroyed() {
        final CacheManager manager = provider.getCacheManager();
        final Cache<String, String> cache = manager.createCache("c", ModelCaches.strings());
        cache.put("k", "v");
        cache.close();
        assertThat(manager.getCacheNames()).isEmpty();
        final Cache<String, String> again = manager.createCache("c", ModelCaches.strings());
        assertThat(again.get("k")).isEqualTo("v");
        manager.destroyCache("c");
        assertThat(again.isClosed()).isTrue();
        assertThat(manager.createCache("c", ModelCaches.strings()).get("k")).isNull();
    }

    @Test
    void shouldEndAStoredCacheThatIsNotOpenHere() {
        final CacheManager manager = provider.getCacheManager();
        manager.createCache("c", ModelCaches.strings()).put("k", "v");
        manager.getCache("c").close();
        manager.destroyCache("c");
        assertThat(manager.createCache("c", ModelCaches.strings()).get("k")).isNull();
        manager.destroyCache("never was");
    }

    @Test
    void shouldNoticeThatAnotherManagerDestroyedTheCache() throws Exception {
        try (URLClassLoader loader = new URLClassLoader(new URL[0], getClass().getClassLoader())) {
            final CacheManager here = provider.getCacheManager();
            final CacheManager there = provider.getCacheManager(null, loader);
            final Cache<String, String> cache = here.createCache("c", ModelCaches.strings());
            there.createCache("c", ModelCaches.strings());
            there.destroyCache("c");
            assertThatThrownBy(() -> cache.put("k", "v"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("destroyed");
            assertThat(cache.isClosed()).isTrue();
            assertThat(here.getCacheNames()).isEmpty();
            here.createCache("c", ModelCaches.strings()).put("k", "v");
        }
    }

    @Test
    void shouldGiveTheSameManagerForTheSameUriAndLoaderUntilClosed() throws Exception {
        try (URLClassLoader loader = new URLClassLoader(new URL[0], getClass().getClassLoader())) {
            final CacheManager manager = provider.getCacheManager();
            assertThat(provider.getCacheManager(null, null, null)).isSameAs(manager);
            assertThat(provider.getCacheManager(provider.getDefaultURI(), provider.getDefaultClassLoader()))
                    .isSameAs(manager);
            final CacheManager other = provider.getCacheManager(null, loader);
            assertThat(other).isNotSameAs(manager);
            assertThat(other.getClassLoader()).isSameAs(loader);
            final CacheManager named = provider.getCacheManager(URI.create("rowan:embedded?name=n"), loader);
            provider.close(URI.create("rowan:embedded?name=n"), loader);
            assertThat(named.isClosed()).isTrue();
            assertThat(other.isClosed()).isFalse();
            provider.close(loader);
            assertThat(other.isClosed()).isTrue();
            assertThat(manager.isClosed()).isFalse();
        }
    }

    @Test
    void shouldShareTheStoreBetweenManagersAndEndItWithTheLast() throws Exception {
        try (URLClassLoader loader = new URLClassLoader(new URL[0], getClass().getClassLoader())) {
            final CacheManager here = provider.getCacheManager();
            final CacheManager there = provider.getCacheManager(URI.create("rowan:embedded?servers=1"), loader);
            here.createCache("c", ModelCaches.strings()).put("k", "v");
            assertThat(there.<String, String>getCache("c")).isNull();
            assertThat(there.createCache("c", ModelCaches.strings()).get("k")).isEqualTo("v");
            assertThat(provider.opened()).hasSize(1);
            here.close();
            assertThat(there.<String, String>getCache("c").get("k")).isEqualTo("v");
            there.close();
            assertThat(provider.opened().get(0).isClosed()).isTrue();
        }
    }

    @Test
    void shouldKeepThePropertiesOfTheFirstCall() {
        final Properties properties = ModelCaches.properties("my.own", "x");
        final CacheManager manager = provider.getCacheManager(null, null, properties);
        properties.setProperty("my.own", "changed");
        manager.getProperties().setProperty("my.own", "changed");
        assertThat(manager.getProperties()).isEqualTo(ModelCaches.properties("my.own", "x"));
        final Properties more = new Properties(ModelCaches.properties("a.default", "d"));
        more.put("an.object", List.of(1));
        final Properties kept = provider.getCacheManager(URI.create("rowan:embedded?name=more"), null, more)
                .getProperties();
        assertThat(kept.getProperty("a.default")).isEqualTo("d");
        assertThat(kept.get("an.object")).isEqualTo(List.of(1));
    }

    @Test
    void shouldThrowIllegalStateBeforeAnythingElseOnceClosed() {
        final CacheManager manager = provider.getCacheManager();
        final Cache<String, String> cache = manager.createCache("c", ModelCaches.strings());
        cache.close();
        cache.close();
        for (Runnable operation : List.<Runnable>of(
                () -> cache.get(null),
                () -> cache.getAll(null),
                () -> cache.containsKey(null),
                () -> cache.loadAll(null, true, null),
                () -> cache.put(null, null),
                () -> cache.getAndPut(null, null),
                () -> cache.putAll(null),
                () -> cache.putIfAbsent(null, null),
                () -> cache.remove(null),
                () -> cache.remove(null, null),
                () -> cache.getAndRemove(null),
                () -> cache.replace(null, null, null),
                () -> cache.replace(null, null),
                () -> cache.getAndReplace(null, null),
                () -> cache.removeAll(null),
                () -> cache.removeAll(),
                () -> cache.clear(),
                () -> cache.invoke(null, null),
                () -> cache.invokeAll(null, null),
                () -> cache.registerCacheEntryListener(null),
                () -> cache.deregisterCacheEntryListener(null),
                () -> assertThat(cache.iterator()).isNull())) {
            assertThatThrownBy(operation::run).isInstanceOf(IllegalStateException.class);
        }
        manager.close();
        for (Runnable operation : List.<Runnable>of(
                () -> manager.createCache(null, null),
                () -> manager.getCache(null),
                () -> manager.getCache(null, null, null),
                () -> manager.getCacheNames(),
                () -> manager.destroyCache(null),
                () -> manager.enableManagement(null, true),
                () -> manager.enableStatistics(null, true))) {
            assertThatThrownBy(operation::run).isInstanceOf(IllegalStateException.class);
        }
    }

    // --- what closes with a cache ---

    private static class Part
            implements CacheLoader<String, String>,
                    CacheWriter<String, String>,
                    ExpiryPolicy,
                    CacheEntryCreatedListener<String, String>,
                    Closeable {
        final List<String> closed;
        final String name;

        Part(List<String> closed, String name) {
            this.closed = closed;
            this.name = name;
        }

        @Override
        public void close() throws IOException {
            closed.add(name);
            throw new IOException("a part that fails to close");
        }

        @Override
        public String load(String key) {
            return null;
        }

        @Override
        public Map<String, String> loadAll(Iterable<? extends String> keys) {
            return Map.of();
        }

        @Override
        public void write(Cache.Entry<? extends String, ? extends String> entry) {}

        @Override
        public void writeAll(java.util.Collection<Cache.Entry<? extends String, ? extends String>> entries) {}

        @Override
        public void delete(Object key) {}

        @Override
        public void deleteAll(java.util.Collection<?> keys) {}

        @Override
        public Duration getExpiryForCreation() {
            return Duration.ETERNAL;
        }

        @Override
        public Duration getExpiryForAccess() {
            return null;
        }

        @Override
        public Duration getExpiryForUpdate() {
            return null;
        }

        @Override
        public void onCreated(Iterable<javax.cache.event.CacheEntryEvent<? extends String, ? extends String>> events) {}
    }

    @Test
    void shouldCloseEveryPartOnceHoweverTheCacheEnds() {
        final List<String> closed = Collections.synchronizedList(new ArrayList<>());
        final MutableConfiguration<String, String> configuration = ModelCaches.strings()
                .setReadThrough(true)
                .setCacheLoaderFactory(() -> new Part(closed, "loader"))
                .setWriteThrough(true)
                .setCacheWriterFactory(() -> new Part(closed, "writer"))
                .setExpiryPolicyFactory(() -> new Part(closed, "expiry"))
                .addCacheEntryListenerConfiguration(new MutableCacheEntryListenerConfiguration<>(
                        () -> new Part(closed, "listener"), null, false, true));
        final CacheManager manager = provider.getCacheManager();
        for (Runnable end : List.<Runnable>of(
                () -> manager.getCache("c").close(), () -> manager.destroyCache("c"), () -> provider.close())) {
            closed.clear();
            manager.createCache("c", configuration);
            end.run();
            assertThat(closed).containsExactlyInAnyOrder("loader", "writer", "expiry", "listener");
        }
    }

    /** After a redeployment, classes that a part needs to close may be missing. */
    @Test
    void shouldLetGoOfTheStoreWhateverTheClosingOfAPartThrows() {
        final List<String> closed = new ArrayList<>();
        final MutableConfiguration<String, String> dying = ModelCaches.strings()
                .setManagementEnabled(true)
                .setReadThrough(true)
                .setCacheLoaderFactory(() -> new Part(closed, "loader") {
                    @Override
                    public void close() {
                        throw new NoClassDefFoundError("gone");
                    }
                })
                .setWriteThrough(true)
                .setCacheWriterFactory(() -> new Part(closed, "writer"));
        final CacheManager first = provider.getCacheManager();
        first.createCache("a", dying);
        first.createCache("b", dying);
        final CacheManager second = provider.getCacheManager(URI.create("rowan:embedded?name=second"), null);
        second.createCache("c", dying);
        assertThatThrownBy(provider::close).isInstanceOf(NoClassDefFoundError.class);
        assertThat(closed).containsExactly("writer", "writer", "writer");
        assertThat(first.isClosed()).isTrue();
        assertThat(second.isClosed()).isTrue();
        assertThat(provider.opened()).hasSize(2).allMatch(store -> store.isClosed());
        assertThat(provider.getCacheManager()).isNotSameAs(first);
    }

    /** As in an application that stops during its start. */
    @Test
    void shouldLeaveNothingBehindWhenTheManagerIsClosedDuringCreation() {
        final List<String> closed = new ArrayList<>();
        final CacheManager staying = provider.getCacheManager();
        final Cache<String, String> here = staying.createCache("c", ModelCaches.strings());
        final CacheManager ending =
                provider.getCacheManager(null, new ClassLoader(getClass().getClassLoader()) {});
        final MutableConfiguration<String, String> configuration = ModelCaches.strings()
                .setManagementEnabled(true)
                .addCacheEntryListenerConfiguration(new MutableCacheEntryListenerConfiguration<>(
                        () -> {
                            ending.close();
                            return new Part(closed, "listener") {
                                @Override
                                public void onCreated(
                                        Iterable<javax.cache.event.CacheEntryEvent<? extends String, ? extends String>>
                                                events) {
                                    closed.add("called");
                                }
                            };
                        },
                        null,
                        false,
                        true));
        assertThatThrownBy(() -> ending.createCache("c", configuration)).isInstanceOf(IllegalStateException.class);
        here.put("k", "v");
        assertThat(closed).as("closed without an event").containsExactly("listener");
    }

    @Test
    void shouldLeaveNothingBehindWhenAFactoryThrows() {
        final List<String> closed = new ArrayList<>();
        final CacheManager manager = provider.getCacheManager();
        final MutableConfiguration<String, String> broken = ModelCaches.strings()
                .setManagementEnabled(true)
                .setReadThrough(true)
                .setCacheLoaderFactory(() -> new Part(closed, "loader"))
                .addCacheEntryListenerConfiguration(new MutableCacheEntryListenerConfiguration<>(
                        () -> {
                            throw new IllegalArgumentException("factory");
                        },
                        null,
                        false,
                        true));
        assertThatThrownBy(() -> manager.createCache("c", broken))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("factory");
        assertThat(closed).containsExactly("loader");
        assertThat(manager.getCacheNames()).isEmpty();
        final Cache<Long, Long> other =
                manager.createCache("c", new MutableConfiguration<Long, Long>().setTypes(Long.class, Long.class));
        other.put(1L, 2L);
        assertThat(other.getAll(Set.of(1L))).containsEntry(1L, 2L);
    }
}
