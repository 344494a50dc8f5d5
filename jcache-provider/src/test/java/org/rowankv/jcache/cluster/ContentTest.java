package org.rowankv.jcache.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPortSettings;

/** Templates that clear a cache: when its store is opened, or when its generation changes. */
@Timeout(300)
final class ContentTest {
    @TempDir
    private Path dir;

    private final List<RowanCachingProvider> providers = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        providers.forEach(RowanCachingProvider::close);
    }

    private CacheManager manager(RowanCachingProvider provider, String uri, String... pairs) {
        final Properties properties = new Properties();
        for (int i = 0; i < pairs.length; i += 2) {
            properties.setProperty("rowan.template." + pairs[i], pairs[i + 1]);
        }
        return provider.getCacheManager(URI.create(uri), null, properties);
    }

    private RowanCachingProvider provider() {
        final RowanCachingProvider provider = new RowanCachingProvider();
        providers.add(provider);
        return provider;
    }

    private static Cache<String, String> cache(CacheManager manager, String name) {
        return manager.createCache(
                name, new MutableConfiguration<String, String>().setTypes(String.class, String.class));
    }

    private String inDirectory() {
        return "rowan:embedded?capacity=16m&dir=" + dir.resolve("store");
    }

    @Test
    void shouldClearAFreshCacheWhenItsStoreIsOpenedAndNotAgain() {
        final String[] fresh = {"books.content", "fresh", "authors.content", "kept"};
        for (int opening = 0; opening < 2; opening++) {
            try (CacheManager one = manager(provider(), inDirectory(), fresh)) {
                final Cache<String, String> books = cache(one, "books");
                final Cache<String, String> authors = cache(one, "authors");
                assertThat(books.get("k")).isNull();
                assertThat(authors.get("k")).isEqualTo(opening == 0 ? null : "v");
                books.put("k", "v");
                authors.put("k", "v");
                books.close();
                assertThat(cache(one, "books").get("k"))
                        .as("the store is still open")
                        .isEqualTo("v");
            }
        }
    }

    /** A cache that another manager has filled since the store was opened is not one of before. */
    @Test
    void shouldNotClearWhatAnotherManagerHasStoredSince() {
        final RowanCachingProvider provider = provider();
        try (CacheManager plain = manager(provider, inDirectory());
                CacheManager fresh = manager(provider, inDirectory() + "&start=eager", "books.content", "fresh")) {
            cache(plain, "books").put("k", "v");
            assertThat(cache(fresh, "books").get("k")).isEqualTo("v");
        }
    }

    @Test
    void shouldClearWhenTheGenerationChangesAcrossOpenings() {
        for (String[] step : new String[][] {{"1", "empty"}, {"1", "kept"}, {"2", "empty"}, {"2", "kept"}}) {
            try (CacheManager manager = manager(provider(), inDirectory(), "*.generation", step[0])) {
                final Cache<String, String> books = cache(manager, "books");
                assertThat(books.get("k")).isEqualTo(step[1].equals("kept") ? "v" : null);
                books.put("k", "v");
                manager.createCache("other", new MutableConfiguration<>());
                manager.destroyCache("other");
            }
        }
    }

    /** Each client stores an entry as soon as it has the cache: no clear comes after the first of them. */
    @Test
    void shouldClearOnceForManyClientsThatOpenACacheAtOnce() throws Exception {
        final int clients = 6;
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
                    with.servers = 3;
                    with.replicas = 2;
                }));
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0))) {
            final String uri = "rowan://" + String.join(";", ports.addresses()) + "/";
            for (int generation = 1; generation <= 5; generation++) {
                final CyclicBarrier begin = new CyclicBarrier(clients);
                final List<CompletableFuture<Void>> running = new ArrayList<>();
                final String text = "generation " + generation;
                for (int client = 0; client < clients; client++) {
                    final String key = text + " client " + client;
                    running.add(CompletableFuture.runAsync(
                            () -> {
                                final CacheManager manager = manager(provider(), uri, "books.generation", text);
                                try {
                                    begin.await();
                                } catch (Exception e) {
                                    throw new IllegalStateException(e);
                                }
                                cache(manager, "books").put(key, "v");
                                manager.close();
                            },
                            task -> new Thread(task).start()));
                }
                running.forEach(CompletableFuture::join);
                try (CacheManager manager = manager(provider(), uri, "books.generation", text)) {
                    final List<String> keys = new ArrayList<>();
                    cache(manager, "books").forEach(entry -> keys.add(entry.getKey()));
                    assertThat(keys).hasSize(clients).allMatch(key -> key.startsWith(text));
                }
            }
        }
    }

    @Test
    void shouldRefuseFreshContentInACluster() {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> with.servers = 1));
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
                CacheManager manager =
                        manager(provider(), "rowan://" + ports.addresses().get(0) + "/", "books.content", "fresh")) {
            assertThatThrownBy(() -> cache(manager, "books"))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("use generation");
            assertThat(cache(manager, "others").get("k")).isNull();
        }
    }

    @Test
    void shouldCopyReferencesWhereTheTemplateSaysSo() {
        try (CacheManager manager =
                manager(provider(), "rowan:embedded?name=references", "books.store-by-reference", "copy")) {
            assertThat(manager.createCache("books", new MutableConfiguration<>().setStoreByValue(false)))
                    .isNotNull();
            assertThatThrownBy(() -> manager.createCache("others", new MutableConfiguration<>().setStoreByValue(false)))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }
}
