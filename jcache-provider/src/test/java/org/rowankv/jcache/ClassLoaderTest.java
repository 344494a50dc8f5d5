package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.expiry.EternalExpiryPolicy;
import javax.cache.integration.CacheLoader;
import javax.cache.integration.CompletionListenerFuture;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.model.ModelCachingProvider;

/** Applications that start and stop, each with its own class loader. */
@Tag("jvm")
class ClassLoaderTest {
    private static final URI ALLOWING = URI.create("rowan:embedded?allowed-classes=org.rowankv.jcache.**");

    /** Loaded once by each of the test's loaders. */
    public static class Payload implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    /** Loaded once by each of the test's loaders. */
    public enum Color {
        RED
    }

    /** Defines the classes of this test, and delegates all others to its parent. */
    private static final class ApplicationLoader extends ClassLoader {
        private final boolean hasPayload;

        ApplicationLoader(boolean hasPayload) {
            super(ClassLoaderTest.class.getClassLoader());
            this.hasPayload = hasPayload;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(ClassLoaderTest.class.getName() + "$")) {
                return super.loadClass(name, resolve);
            }
            if (!hasPayload) {
                throw new ClassNotFoundException(name);
            }
            final Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                final byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }

        Object payload() throws Exception {
            return loadClass(Payload.class.getName()).getConstructor().newInstance();
        }

        Object red() throws Exception {
            return loadClass(Color.class.getName()).getEnumConstants()[0];
        }
    }

    private final ModelCachingProvider provider = new ModelCachingProvider();

    @AfterEach
    void close() {
        provider.close();
    }

    @Test
    void shouldReadValuesWithTheLoaderOfEachManager() throws Exception {
        final ApplicationLoader one = new ApplicationLoader(true);
        final ApplicationLoader two = new ApplicationLoader(true);
        final Cache<String, Object> first =
                provider.getCacheManager(ALLOWING, one).createCache("c", new MutableConfiguration<>());
        final Cache<String, Object> second =
                provider.getCacheManager(ALLOWING, two).createCache("c", new MutableConfiguration<>());
        first.put("payload", one.payload());
        first.put("color", one.red());
        for (String key : List.of("payload", "color")) {
            assertThat(first.get(key).getClass().getClassLoader()).isSameAs(one);
            assertThat(second.get(key).getClass().getClassLoader()).isSameAs(two);
        }
    }

    @Test
    void shouldLeaveAnEntryWhoseClassIsMissing() throws Exception {
        final ApplicationLoader one = new ApplicationLoader(true);
        final ApplicationLoader bare = new ApplicationLoader(false);
        final Cache<String, Object> first =
                provider.getCacheManager(ALLOWING, one).createCache("c", new MutableConfiguration<>());
        final Cache<String, Object> second =
                provider.getCacheManager(ALLOWING, bare).createCache("c", new MutableConfiguration<>());
        first.put("payload", one.payload());
        first.put("color", one.red());
        for (String key : List.of("payload", "color")) {
            assertThatThrownBy(() -> second.get(key))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("ClassLoaderTest$")
                    .hasMessageContaining("the entry stays as it is");
            assertThat(second.containsKey(key)).isTrue();
            assertThat(first.get(key)).isNotNull();
        }
    }

    @Test
    void shouldLetAClosedApplicationGo() throws Exception {
        // Another application of the same store continues.
        final CacheManager staying =
                provider.getCacheManager(ALLOWING, getClass().getClassLoader());
        staying.createCache("c", new MutableConfiguration<>());
        final WeakReference<ClassLoader> loader = new WeakReference<>(useAndClose());
        awaitCollection(() -> loader.refersTo(null));
        assertThat(staying.<String, Object>getCache("c").containsKey("payload")).isTrue();
    }

    /** Its caches have types, policies, loaders and listeners of its own, and are shown by MXBeans. */
    @Test
    void shouldLetAnApplicationGoThatHasClosedNothing() throws Exception {
        final CacheManager staying =
                provider.getCacheManager(ALLOWING, getClass().getClassLoader());
        staying.createCache("c", new MutableConfiguration<>());
        final Set<ObjectName> beans = beans();
        final WeakReference<ClassLoader> loader = new WeakReference<>(leave());
        assertThat(beans()).isNotEqualTo(beans);
        // The reference is cleared before it is in its queue.
        awaitCollection(() -> {
            provider.getCacheManager();
            return loader.refersTo(null) && beans.containsAll(beans());
        });
        assertThat(staying.<String, Object>getCache("c").containsKey("payload")).isTrue();
    }

    private static Set<ObjectName> beans() {
        return ManagementFactory.getPlatformMBeanServer().queryNames(null, null).stream()
                .filter(name -> name.getDomain().equals("javax.cache"))
                .collect(Collectors.toSet());
    }

    private ClassLoader leave() throws Exception {
        final ApplicationLoader loader = new ApplicationLoader(true);
        use(loader);
        return loader;
    }

    /** It asks for its manager by its URI, and refers to nothing itself. */
    @Test
    void shouldKeepTheManagerOfAnApplicationThatRuns() throws Exception {
        final ApplicationLoader loader = new ApplicationLoader(true);
        use(loader);
        for (int i = 0; i < 5; i++) {
            System.gc();
        }
        final Cache<String, Object> cache =
                provider.getCacheManager(ALLOWING, loader).getCache("c");
        assertThat(cache.get("payload").getClass().getClassLoader()).isSameAs(loader);
        assertThat(beans()).isNotEmpty();
        provider.close(ALLOWING, loader);
        assertThat(cache.isClosed()).isTrue();
        assertThat(beans()).isEmpty();
    }

    private ClassLoader useAndClose() throws Exception {
        final ApplicationLoader loader = new ApplicationLoader(true);
        use(loader).close();
        return loader;
    }

    private CacheManager use(ApplicationLoader loader) throws Exception {
        final CacheManager manager = provider.getCacheManager(ALLOWING, loader);
        final Object held = loader.payload();
        final Cache<String, Object> cache = manager.createCache(
                "c",
                new MutableConfiguration<String, Object>()
                        .setManagementEnabled(true)
                        .setStatisticsEnabled(true)
                        .setExpiryPolicyFactory(() -> holding(held, new EternalExpiryPolicy()))
                        .setReadThrough(true)
                        .setCacheLoaderFactory(() -> holding(held, new PayloadLoader(held))));
        cache.registerCacheEntryListener(new MutableCacheEntryListenerConfiguration<>(
                () -> (CacheEntryCreatedListener<String, Object>)
                        events -> assertThat(held).isNotNull(),
                null,
                true,
                false));
        cache.registerCacheEntryListener(new MutableCacheEntryListenerConfiguration<>(
                () -> (CacheEntryCreatedListener<String, Object>)
                        events -> assertThat(held).isNotNull(),
                null,
                false,
                true));
        cache.put("payload", loader.payload());
        cache.put("color", loader.red());
        cache.get("payload");
        cache.get("color");
        cache.invoke("payload", (entry, arguments) -> held.getClass());
        final CompletionListenerFuture loaded = new CompletionListenerFuture();
        cache.loadAll(java.util.Set.of("x"), true, loaded);
        loaded.get();
        assertThat(cache.get("x").getClass().getClassLoader()).isSameAs(loader);
        return manager;
    }

    private static <T> T holding(Object held, T made) {
        assertThat(held).isNotNull();
        return made;
    }

    /** Loads objects of an application's class on the library's threads. */
    private record PayloadLoader(Object payload) implements CacheLoader<String, Object> {
        @Override
        public Object load(String key) {
            return payload;
        }

        @Override
        public Map<String, Object> loadAll(Iterable<? extends String> keys) {
            final Map<String, Object> loaded = new HashMap<>();
            keys.forEach(key -> loaded.put(key, payload));
            return loaded;
        }
    }

    /** Uses the context class loader, as code does that looks up resources, services or entities. */
    @Test
    void shouldRunLoadersAndListenersInTheContextOfTheirApplication() throws Exception {
        final ApplicationLoader loader = new ApplicationLoader(true);
        final CompletableFuture<ClassLoader> whileLoading = new CompletableFuture<>();
        final CompletableFuture<ClassLoader> whileListening = new CompletableFuture<>();
        final Cache<String, Object> cache = provider.getCacheManager(ALLOWING, loader)
                .createCache(
                        "c",
                        new MutableConfiguration<String, Object>().setCacheLoaderFactory(() -> new CacheLoader<>() {
                            @Override
                            public Object load(String key) {
                                return key;
                            }

                            @Override
                            public Map<String, Object> loadAll(Iterable<? extends String> keys) {
                                whileLoading.complete(Thread.currentThread().getContextClassLoader());
                                return Map.of();
                            }
                        }));
        cache.registerCacheEntryListener(new MutableCacheEntryListenerConfiguration<>(
                () -> (CacheEntryCreatedListener<String, Object>)
                        events -> whileListening.complete(Thread.currentThread().getContextClassLoader()),
                null,
                false,
                false));
        cache.loadAll(java.util.Set.of("x"), true, null);
        cache.put("k", "v");
        assertThat(whileLoading.get(60, TimeUnit.SECONDS)).isSameAs(loader);
        assertThat(whileListening.get(60, TimeUnit.SECONDS)).isSameAs(loader);
    }

    @Test
    void shouldCloseTheManagerOfAnApplicationThatIsGoneWithoutClosing() throws Exception {
        final WeakReference<ClassLoader> loader = new WeakReference<>(openAndForget());
        // The reference is cleared before it is in its queue.
        awaitCollection(() -> {
            provider.getCacheManager();
            return loader.refersTo(null) && provider.opened().get(0).isClosed();
        });
    }

    private ClassLoader openAndForget() {
        final ApplicationLoader loader = new ApplicationLoader(true);
        provider.getCacheManager(URI.create("rowan:embedded?name=forgotten"), loader)
                .createCache("c", new MutableConfiguration<String, String>())
                .put("k", "v");
        return loader;
    }

    @Test
    void shouldSayThatTheLoaderIsGone() throws Exception {
        final CacheManager manager = orphan();
        awaitCollection(() -> {
            try {
                return manager.getClassLoader() == null;
            } catch (CacheException e) {
                return true;
            }
        });
        assertThatThrownBy(manager::getClassLoader).hasMessageContaining("is gone");
        final Cache<String, Object> cache = manager.getCache("c");
        assertThat(cache.get("string")).isEqualTo("s");
        assertThatThrownBy(() -> cache.get("payload"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("is gone");
    }

    private CacheManager orphan() throws Exception {
        final ApplicationLoader loader = new ApplicationLoader(true);
        final CacheManager manager = provider.getCacheManager(ALLOWING, loader);
        final Cache<String, Object> cache = manager.createCache("c", new MutableConfiguration<>());
        cache.put("string", "s");
        cache.put("payload", loader.payload());
        return manager;
    }

    private static void awaitCollection(BooleanSupplier collected) {
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> {
                    System.gc();
                    return collected.getAsBoolean();
                });
    }
}
