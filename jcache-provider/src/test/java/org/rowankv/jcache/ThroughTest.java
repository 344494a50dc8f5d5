package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import javax.cache.Cache;
import javax.cache.integration.CacheLoader;
import javax.cache.integration.CacheLoaderException;
import javax.cache.integration.CacheWriter;
import javax.cache.integration.CacheWriterException;
import javax.cache.integration.CompletionListenerFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.jcache.model.ModelCaches;
import org.rowankv.jcache.operation.CacheFullException;

/** Read-through and write-through. */
@Timeout(120)
class ThroughTest {
    private final ModelCaches caches = new ModelCaches();
    private final RecordingWriter writer = new RecordingWriter();

    @AfterEach
    void close() {
        caches.close();
    }

    private Cache<String, String> reading(CacheLoader<String, String> loader) {
        return caches.create(ModelCaches.strings().setReadThrough(true).setCacheLoaderFactory(() -> loader));
    }

    private Cache<String, String> writing() {
        return caches.create(ModelCaches.strings().setWriteThrough(true).setCacheWriterFactory(() -> writer));
    }

    // --- read-through ---

    @Test
    void shouldLoadOnceAndKeep() {
        final MapLoader loader = new MapLoader(Map.of("k", "v"));
        final Cache<String, String> cache = reading(loader);
        assertThat(cache.get("k")).isEqualTo("v");
        assertThat(cache.get("k")).isEqualTo("v");
        assertThat(cache.get("none")).isNull();
        assertThat(cache.containsKey("none")).isFalse();
        assertThat(loader.loaded()).containsExactly("k", "none");
    }

    @Test
    void shouldLoadTheMissingOnesOfGetAllTogether() {
        final MapLoader loader = new MapLoader(Map.of("a", "1", "b", "2"));
        final Cache<String, String> cache = reading(loader);
        cache.put("a", "mine");
        assertThat(cache.getAll(Set.of("a", "b", "c"))).isEqualTo(Map.of("a", "mine", "b", "2"));
        assertThat(loader.loaded()).containsExactlyInAnyOrder("b", "c");
        final Set<String> withNull = new HashSet<>();
        withNull.add("x");
        withNull.add(null);
        assertThatThrownBy(() -> cache.getAll(withNull)).isInstanceOf(NullPointerException.class);
        assertThat(loader.loaded()).hasSize(2);
    }

    /** A slow load of an old row must neither restore a removed entry nor hide a newer one. */
    @Test
    void shouldNotStoreALoadThatWasOvertaken() {
        final AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});
        final Cache<String, String> cache = reading(new CacheLoader<>() {
            @Override
            public String load(String key) {
                meanwhile.get().run();
                return "old row";
            }

            @Override
            public Map<String, String> loadAll(Iterable<? extends String> keys) {
                final Map<String, String> values = new HashMap<>();
                keys.forEach(key -> values.put(key, load(key)));
                return values;
            }
        });
        meanwhile.set(() -> {
            cache.put("k", "new row");
            cache.remove("k");
        });
        assertThat(cache.get("k")).isEqualTo("old row");
        assertThat(cache.containsKey("k")).isFalse();
        meanwhile.set(() -> cache.put("k", "new row"));
        assertThat(cache.get("k")).isEqualTo("new row");
        cache.remove("k");
        assertThat(cache.getAll(Set.of("k"))).isEqualTo(Map.of("k", "new row"));
        cache.put("cleared", "x");
        cache.remove("cleared");
        meanwhile.set(cache::clear);
        assertThat(cache.get("cleared")).isEqualTo("old row");
        assertThat(cache.containsKey("cleared")).isFalse();
    }

    @Test
    void shouldNotReplaceWhatWasWrittenDuringLoadAll() throws Exception {
        final AtomicReference<Cache<String, String>> holder = new AtomicReference<>();
        final Cache<String, String> cache = reading(new CacheLoader<>() {
            @Override
            public String load(String key) {
                return "row";
            }

            @Override
            public Map<String, String> loadAll(Iterable<? extends String> keys) {
                holder.get().put("k", "newer");
                return Map.of("k", "row", "l", "row", "not asked for", "row");
            }
        });
        holder.set(cache);
        cache.put("k", "old");
        final CompletionListenerFuture done = new CompletionListenerFuture();
        cache.loadAll(Set.of("k", "l"), true, done);
        done.get();
        assertThat(cache.get("k")).isEqualTo("newer");
        assertThat(cache.containsKey("l")).isTrue();
        assertThat(cache.containsKey("not asked for")).isFalse();
    }

    @Test
    void shouldBeQuietWithoutLoaderAndListener() throws Exception {
        final Cache<String, String> cache = caches.create();
        cache.loadAll(Set.of("k"), true, null);
        final CompletionListenerFuture done = new CompletionListenerFuture();
        cache.loadAll(Set.of("k"), true, done);
        done.get();
        assertThat(cache.containsKey("k")).isFalse();
    }

    @Test
    void shouldWrapWhatLoadersThrow() {
        final Cache<String, String> cache = reading(new CacheLoader<>() {
            @Override
            public String load(String key) {
                throw new IllegalStateException("row");
            }

            @Override
            public Map<String, String> loadAll(Iterable<? extends String> keys) {
                throw new AssertionError("rows");
            }
        });
        assertThatThrownBy(() -> cache.get("k"))
                .isInstanceOf(CacheLoaderException.class)
                .hasCauseInstanceOf(IllegalStateException.class);
        final CompletionListenerFuture done = new CompletionListenerFuture();
        cache.loadAll(Set.of("k"), false, done);
        assertThatThrownBy(done::get)
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(CacheLoaderException.class);
        cache.put("k", "v");
        assertThat(cache.get("k")).isEqualTo("v");
    }

    @Test
    void shouldNotStoreThatThereIsNothingToLoad() throws Exception {
        final Cache<String, String> cache = reading(new MapLoader(Map.of("k", "v")));
        assertThat(cache.getAll(Set.of("k", "none"))).isEqualTo(Map.of("k", "v"));
        final CompletionListenerFuture done = new CompletionListenerFuture();
        cache.loadAll(Set.of("none", "k"), true, done);
        done.get();
        assertThat(cache.<String>invoke("none", (entry, arguments) -> entry.getValue()))
                .isNull();
        assertThat(cache.containsKey("none")).isFalse();
    }

    /** Many keys take one call of the loader, and one request each to the store. */
    @Test
    void shouldReadManyKeysWithOneRequestEachAndOneLoad() {
        final List<Set<String>> loads = new ArrayList<>();
        final Cache<String, String> cache = reading(new CacheLoader<>() {
            @Override
            public String load(String key) {
                throw new IllegalStateException("one by one");
            }

            @Override
            public Map<String, String> loadAll(Iterable<? extends String> keys) {
                final Set<String> load = new HashSet<>();
                keys.forEach(load::add);
                loads.add(load);
                return Map.of();
            }
        });
        final Set<String> keys = new HashSet<>();
        for (int i = 0; i < 1_000; i++) {
            keys.add("k" + i);
            if (i % 2 == 0) {
                cache.put("k" + i, "v");
            }
        }
        final long callsBefore = caches.session().calls();
        assertThat(cache.getAll(keys)).hasSize(500);
        assertThat(caches.session().calls() - callsBefore).isEqualTo(1_000);
        assertThat(loads).hasSize(1);
        assertThat(loads.get(0)).hasSize(500);
    }

    @Test
    void shouldLetALoaderUseTheCache() {
        final AtomicReference<Cache<String, String>> holder = new AtomicReference<>();
        final Cache<String, String> cache = reading(new CacheLoader<>() {
            @Override
            public String load(String key) {
                return key.equals("0") ? "0" : holder.get().get("" + (Integer.parseInt(key) - 1)) + "," + key;
            }

            @Override
            public Map<String, String> loadAll(Iterable<? extends String> keys) {
                return Map.of();
            }
        });
        holder.set(cache);
        assertThat(cache.get("5")).isEqualTo("0,1,2,3,4,5");
        assertThat(cache.containsKey("3")).isTrue();
    }

    // --- write-through ---

    @Test
    void shouldWriteOnlyWhatTakesEffect() {
        final Cache<String, String> cache = writing();
        cache.replace("k", "x");
        cache.remove("k", "x");
        cache.put("k", "1");
        cache.putIfAbsent("k", "x");
        cache.replace("k", "1", "2");
        cache.replace("k", "1", "x");
        cache.getAndReplace("k", "3");
        cache.remove("k", "x");
        cache.remove("k", "3");
        cache.remove("k");
        cache.getAndRemove("k");
        cache.putIfAbsent("k", "4");
        cache.getAndPut("k", "5");
        final var iterator = cache.iterator();
        iterator.next();
        iterator.remove();
        assertThat(writer.written()).containsExactly("k=1", "k=2", "k=3", "-k", "-k", "-k", "k=4", "k=5", "-k");
    }

    @Test
    void shouldLeaveTheCacheAsItWasWhenTheWriterFails() {
        final Cache<String, String> cache = writing();
        cache.put("k", "1");
        writer.failOn("k");
        for (Runnable operation : List.<Runnable>of(
                () -> cache.put("k", "2"),
                () -> cache.getAndPut("k", "2"),
                () -> cache.replace("k", "2"),
                () -> cache.replace("k", "1", "2"),
                () -> cache.remove("k"),
                () -> cache.remove("k", "1"),
                () -> cache.getAndRemove("k"),
                () -> cache.invoke("k", (entry, arguments) -> {
                    entry.setValue("2");
                    return null;
                }))) {
            assertThatThrownBy(operation::run).isInstanceOf(CacheWriterException.class);
            assertThat(cache.get("k")).isEqualTo("1");
        }
    }

    @Test
    void shouldChangeOnlyWhatABulkWriterManaged() {
        final Cache<String, String> cache = writing();
        writer.failOn("b");
        final Map<String, String> entries = new LinkedHashMap<>();
        entries.put("a", "1");
        entries.put("b", "2");
        entries.put("c", "3");
        assertThatThrownBy(() -> cache.putAll(entries)).isInstanceOf(CacheWriterException.class);
        assertThat(cache.getAll(Set.of("a", "b", "c"))).isEqualTo(Map.of("a", "1"));
        cache.put("c", "3");
        assertThatThrownBy(() -> cache.removeAll(new java.util.LinkedHashSet<>(List.of("a", "b", "c"))))
                .isInstanceOf(CacheWriterException.class);
        assertThat(cache.getAll(Set.of("a", "b", "c"))).isEqualTo(Map.of("c", "3"));
    }

    /** Neither failure hides the other. */
    @Test
    void shouldTellWhatTheWriterFailedOnWhenTheStoreIsFullToo() {
        final Cache<String, String> cache = writing();
        writer.failOn("b");
        caches.refuse(org.rowankv.protocol.Operation.PUT, org.rowankv.protocol.Status.FULL);
        final Map<String, String> entries = new LinkedHashMap<>();
        entries.put("a", "1");
        entries.put("b", "2");
        assertThatThrownBy(() -> cache.putAll(entries))
                .isInstanceOf(CacheFullException.class)
                .satisfies(full -> assertThat(full.getSuppressed()[0]).isInstanceOf(CacheWriterException.class));
    }

    @Test
    void shouldDeleteWhatRemoveAllFinds() {
        final Cache<String, String> cache = writing();
        cache.put("a", "1");
        cache.put("b", "2");
        writer.clear();
        cache.removeAll();
        assertThat(writer.written()).containsExactlyInAnyOrder("-a", "-b");
        cache.put("a", "1");
        writer.clear();
        final var iterator = cache.iterator();
        iterator.next();
        iterator.remove();
        assertThat(writer.written()).containsExactly("-a");
        cache.put("a", "1");
        writer.failOn("a");
        final var failing = cache.iterator();
        failing.next();
        assertThatThrownBy(failing::remove).isInstanceOf(CacheWriterException.class);
        assertThat(cache.containsKey("a")).isTrue();
        writer.clear();
        cache.clear();
        assertThat(writer.written()).isEmpty();
    }

    @Test
    void shouldNotWriteWhatCannotBeStored() {
        final List<Object> written = Collections.synchronizedList(new ArrayList<>());
        final Cache<String, Object> cache =
                caches.create(new javax.cache.configuration.MutableConfiguration<String, Object>()
                        .setTypes(String.class, Object.class)
                        .setWriteThrough(true)
                        .setCacheWriterFactory(() -> new CacheWriter<String, Object>() {
                            @Override
                            public void write(Cache.Entry<? extends String, ?> entry) {
                                written.add(entry);
                            }

                            @Override
                            public void writeAll(java.util.Collection<Cache.Entry<? extends String, ?>> entries) {}

                            @Override
                            public void delete(Object key) {}

                            @Override
                            public void deleteAll(java.util.Collection<?> keys) {}
                        }));
        assertThatThrownBy(() -> cache.put("k", new Object())).isInstanceOf(javax.cache.CacheException.class);
        assertThat(written).isEmpty();
    }

    /** A bulk operation runs between the writer's call and the store: the writer receives both. */
    @Test
    void shouldHaveToldTheWriterOfARunThatWasOvertaken() {
        final AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});
        final Cache<String, String> cache = caches.create(ModelCaches.strings()
                .setWriteThrough(true)
                .setCacheWriterFactory(() -> new RecordingWriter(writer) {
                    @Override
                    public synchronized void write(Cache.Entry<? extends String, ? extends String> entry) {
                        super.write(entry);
                        meanwhile.getAndSet(() -> {}).run();
                    }
                }));
        meanwhile.set(() -> cache.putAll(Map.of("k", "theirs")));
        cache.invoke("k", (entry, arguments) -> {
            if (!entry.exists()) {
                entry.setValue("mine");
            }
            return null;
        });
        assertThat(writer.written()).containsExactly("k=mine", "k=theirs");
        assertThat(cache.get("k")).isEqualTo("theirs");
    }

    /** Within one JVM the writer receives a key's changes in the store's order. */
    @Test
    void shouldKeepWriterAndStoreInTheSameOrder() throws Exception {
        final Map<String, String> database = new ConcurrentHashMap<>();
        final Cache<String, String> cache = caches.create(ModelCaches.strings()
                .setWriteThrough(true)
                .setCacheWriterFactory(() -> new CacheWriter<String, String>() {
                    @Override
                    public void write(Cache.Entry<? extends String, ? extends String> entry) {
                        Thread.yield();
                        database.put(entry.getKey(), entry.getValue());
                        Thread.yield();
                    }

                    @Override
                    public void writeAll(
                            java.util.Collection<Cache.Entry<? extends String, ? extends String>> entries) {}

                    @Override
                    public void delete(Object key) {
                        database.remove(key);
                    }

                    @Override
                    public void deleteAll(java.util.Collection<?> keys) {}
                }));
        for (int round = 0; round < 40; round++) {
            final List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                final int number = t;
                final Thread thread = new Thread(() -> {
                    for (int i = 0; i < 20; i++) {
                        switch (number) {
                            case 0 -> cache.put("k", "put" + i);
                            case 1 -> cache.remove("k");
                            case 2 -> cache.replace("k", "replaced" + i);
                            default ->
                                cache.invoke("k", (entry, arguments) -> {
                                    entry.setValue("invoked");
                                    return null;
                                });
                        }
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(cache.get("k")).isEqualTo(database.get("k"));
        }
    }
}
