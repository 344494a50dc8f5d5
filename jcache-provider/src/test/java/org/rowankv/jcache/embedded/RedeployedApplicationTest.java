package org.rowankv.jcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.Serializable;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.integration.CacheLoader;
import javax.cache.integration.CompletionListenerFuture;
import javax.cache.spi.CachingProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPortSettings;

/** An application that brings the library, and is deployed again: the class loader of the old one goes, with all its classes. */
@Tag("jvm")
final class RedeployedApplicationTest {
    @TempDir
    Path directory;

    record Note(String text, List<Integer> numbers) implements Serializable {}

    /** For {@link #linkAnotherRecord}. */
    public record Other(Other component) {}

    /** A class with fields. */
    static final class Memo implements Serializable {
        private static final long serialVersionUID = 1L;
        private final String text;

        Memo(String text) {
            this.text = text;
        }
    }

    /** Runs in the class loader of the application, whose classes are all here but those of the JDK. */
    public static final class Application implements UnaryOperator<String> {
        @Override
        public String apply(String uri) {
            final Properties properties = new Properties();
            properties.setProperty("rowan.allowed-classes", RedeployedApplicationTest.class.getPackageName() + ".*");
            if (uri.startsWith("rowan:embedded")) {
                properties.setProperty("rowan.template.*.near", "validated");
            }
            try (CachingProvider provider = Caching.getCachingProvider();
                    CacheManager manager =
                            provider.getCacheManager(URI.create(uri), getClass().getClassLoader(), properties)) {
                final Cache<Note, Object> cache = manager.createCache(
                        "notes",
                        new MutableConfiguration<Note, Object>()
                                .setTypes(Note.class, Object.class)
                                .setStatisticsEnabled(true)
                                .setManagementEnabled(true)
                                .setReadThrough(true)
                                .setCacheLoaderFactory(Loader::new));
                return use(cache);
            }
        }

        private static String use(Cache<Note, Object> cache) {
            final Map<Note, Object> heard = new ConcurrentHashMap<>();
            for (boolean isSynchronous : new boolean[] {true, false}) {
                cache.registerCacheEntryListener(new MutableCacheEntryListenerConfiguration<>(
                        () -> (CacheEntryCreatedListener<Note, Object>)
                                events -> events.forEach(event -> heard.put(event.getKey(), event.getValue())),
                        null,
                        false,
                        isSynchronous));
            }
            final Note key = new Note("key", List.of(1, 2));
            final boolean wasThere = cache.containsKey(key);
            cache.put(key, new Note("value", List.of(3)));
            cache.put(new Note("memo", List.of()), new Memo("text"));
            final CompletionListenerFuture loaded = new CompletionListenerFuture();
            cache.loadAll(Set.of(new Note("loaded", List.of())), true, loaded);
            try {
                loaded.get();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            final Object invoked = cache.invoke(key, (entry, arguments) -> entry.getValue());
            return wasThere + " " + ((Note) cache.get(key)).text() + " " + ((Note) invoked).numbers() + " "
                    + ((Memo) cache.get(new Note("memo", List.of()))).text + " "
                    + ((Memo) cache.get(new Note("loaded", List.of()))).text;
        }
    }

    /** On threads of the library. */
    static final class Loader implements CacheLoader<Note, Object> {
        @Override
        public Object load(Note key) {
            return new Memo("of " + key.text());
        }

        @Override
        public Map<Note, Object> loadAll(Iterable<? extends Note> keys) {
            final Map<Note, Object> loaded = new HashMap<>();
            keys.forEach(key -> loaded.put(key, load(key)));
            return loaded;
        }
    }

    private static URLClassLoader application() throws Exception {
        final List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    @SuppressWarnings("unchecked")
    private static WeakReference<ClassLoader> deployAndUndeploy(String uri, boolean isThere) throws Exception {
        final Thread current = Thread.currentThread();
        final ClassLoader before = current.getContextClassLoader();
        try (URLClassLoader loader = application()) {
            current.setContextClassLoader(loader);
            final Class<?> type = loader.loadClass(Application.class.getName());
            assertThat(type).isNotEqualTo(Application.class);
            assertThat(((UnaryOperator<String>) type.getConstructor().newInstance()).apply(uri))
                    .isEqualTo(isThere + " value [3] text of loaded");
            return new WeakReference<>(loader);
        } finally {
            current.setContextClassLoader(before);
        }
    }

    /** Until Java 19 the JDK keeps the class of the record whose methods it linked last. */
    private static void linkAnotherRecord() throws Exception {
        final Class<?> other = application().loadClass(Other.class.getName());
        final Object record = other.getConstructors()[0].newInstance((Object) null);
        assertThat(record.equals(other.getConstructors()[0].newInstance(record)))
                .isFalse();
        assertThat(record.hashCode()).isZero();
        assertThat(record).hasToString("Other[component=null]");
    }

    private static void requireCollected(WeakReference<ClassLoader> loader) throws Exception {
        linkAnotherRecord();
        CollectedLoader.require(loader);
    }

    @Test
    void shouldLeaveNothingOfAStoreInItsJvm() throws Exception {
        final String uri = "rowan:embedded?capacity=16m&checkpoint-interval=1&dir=" + directory;

        requireCollected(deployAndUndeploy(uri, false));
        requireCollected(deployAndUndeploy(uri, true));
    }

    @Test
    void shouldLeaveNothingOfAClientOfACluster() throws Exception {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
                    with.servers = 2;
                    with.replicas = 2;
                }));
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0))) {
            final String uri = "rowan://" + String.join(",", ports.addresses()) + "/";

            requireCollected(deployAndUndeploy(uri, false));
            requireCollected(deployAndUndeploy(uri, true));
        }
    }
}
