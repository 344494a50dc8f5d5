package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.cache.Cache;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryRemovedListener;
import javax.cache.event.CacheEntryUpdatedListener;
import javax.cache.integration.CacheLoader;
import javax.cache.integration.CompletionListenerFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.ModelSession;
import org.rowankv.jcache.model.ModelCaches;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;

/** Objects that an application, loader or listener changes afterwards are never the cache's. */
@Tag("jvm")
class ByValueTest {
    private final ModelCaches caches = new ModelCaches();

    @AfterEach
    void close() {
        caches.close();
    }

    private static MutableConfiguration<Object, Object> objects() {
        return new MutableConfiguration<>();
    }

    private static List<String> list(String... elements) {
        return new ArrayList<>(Arrays.asList(elements));
    }

    @Test
    void shouldCopyKeysAndValuesOfEveryOperationThatStores() {
        final Cache<Object, Object> cache = caches.create(objects());
        final List<String> key = list("key");
        final List<String> value = list("value");
        for (Runnable operation : List.<Runnable>of(
                () -> cache.put(key, value),
                () -> cache.getAndPut(key, value),
                () -> cache.putIfAbsent(key, value),
                () -> cache.putAll(Map.of(key, value)),
                () -> ModelCaches.unwrap(cache).putEach(Map.of(key, value)),
                () -> cache.invoke(
                        key,
                        (entry, arguments) -> {
                            entry.setValue(arguments[0]);
                            return null;
                        },
                        value))) {
            operation.run();
            key.add("changed");
            value.add("changed");
            assertThat(cache.containsKey(key)).isFalse();
            assertThat(cache.get(list("key"))).isEqualTo(list("value"));
            key.remove(1);
            value.remove(1);
            cache.clear();
        }
        cache.put(key, list("other"));
        cache.replace(key, value);
        value.add("changed");
        assertThat(cache.get(key)).isEqualTo(list("value"));
    }

    @Test
    @SuppressWarnings("unchecked")
    void shouldGiveACopyAtEveryRead() {
        final Cache<Object, Object> cache = caches.create(objects());
        cache.put("k", list("value"));
        ((List<String>) cache.get("k")).add("changed");
        ((List<String>) cache.getAll(Set.of("k")).get("k")).add("changed");
        ((List<String>) cache.iterator().next().getValue()).add("changed");
        ((List<String>) ModelCaches.unwrap(cache).getVersioned("k").value()).add("changed");
        cache.invoke("k", (entry, arguments) -> ((List<String>) entry.getValue()).add("changed"));
        assertThat(cache.get("k")).isEqualTo(list("value"));
        assertThat(cache.replace("k", list("value"), "w")).isTrue();
    }

    /** Changes every key passed to it, and keeps references to the values it returned. */
    private static final class TouchyLoader implements CacheLoader<Object, Object> {
        final List<String> row = list("row");

        @Override
        @SuppressWarnings("unchecked")
        public Object load(Object key) {
            ((List<String>) key).add("changed");
            return row;
        }

        @Override
        @SuppressWarnings("unchecked")
        public Map<Object, Object> loadAll(Iterable<?> keys) {
            final Map<Object, Object> rows = new HashMap<>();
            keys.forEach(key -> {
                rows.put(new ArrayList<>((List<String>) key), row);
                ((List<String>) key).add("changed");
            });
            return rows;
        }
    }

    @Test
    @SuppressWarnings("unchecked")
    void shouldGiveLoadersCopiesAndKeepNoneOfTheirs() throws Exception {
        final TouchyLoader loader = new TouchyLoader();
        final Cache<Object, Object> cache =
                caches.create(objects().setReadThrough(true).setCacheLoaderFactory(() -> loader));
        final List<String> key = list("key");
        for (int way = 0; way < 4; way++) {
            cache.clear();
            if (way == 0) {
                ((List<String>) cache.get(key)).add("changed");
            } else if (way == 1) {
                ((List<String>) cache.getAll(Set.of(key)).get(key)).add("changed");
            } else if (way == 2) {
                final CompletionListenerFuture done = new CompletionListenerFuture();
                cache.loadAll(Set.of(key), false, done);
                done.get();
            } else {
                cache.invoke(key, (entry, arguments) -> ((List<String>) entry.getValue()).add("changed"));
            }
            assertThat(key).as("way %d", way).isEqualTo(list("key"));
            assertThat(loader.row).as("way %d", way).isEqualTo(list("row"));
            assertThat(cache.get(key)).as("way %d", way).isEqualTo(list("row"));
        }
    }

    /** Each run of a processor starts from an unchanged copy of the loaded value. */
    @Test
    @SuppressWarnings("unchecked")
    void shouldGiveEachRunOfAProcessorALoadedValueOfItsOwn() {
        final TouchyLoader loader = new TouchyLoader();
        final Cache<Object, Object> cache =
                caches.create(objects().setReadThrough(true).setCacheLoaderFactory(() -> loader));
        final boolean[] disturbed = {false};
        caches.session().interceptWith(new ModelSession.Interceptor() {
            @Override
            public org.rowankv.protocol.Status refuse(Request request) {
                final boolean first = request.operation() == Operation.PUT
                        && request.condition() != Condition.ALWAYS
                        && !disturbed[0];
                disturbed[0] |= first;
                return first ? org.rowankv.protocol.Status.CONDITION_FAILED : org.rowankv.protocol.Status.OK;
            }
        });
        cache.invoke(list("key"), (entry, arguments) -> {
            final List<String> rows = (List<String>) entry.getValue();
            rows.add("mine");
            entry.setValue(rows);
            return null;
        });
        assertThat(disturbed[0]).isTrue();
        assertThat(cache.get(list("key"))).isEqualTo(list("row", "mine"));
    }

    /** Detects whether a listener sees another listener's changes to its copy. */
    private static final class TouchyListener
            implements CacheEntryUpdatedListener<Object, Object>, CacheEntryRemovedListener<Object, Object> {
        final List<Object> seen = new ArrayList<>();

        @SuppressWarnings("unchecked")
        private void see(Iterable<javax.cache.event.CacheEntryEvent<?, ?>> events) {
            events.forEach(event -> {
                final List<Object> parts = List.of(event.getKey(), event.getValue(), event.getOldValue());
                parts.forEach(part -> seen.add(new ArrayList<>((List<String>) part)));
                parts.forEach(part -> ((List<String>) part).add("changed"));
            });
        }

        @Override
        public void onUpdated(Iterable<javax.cache.event.CacheEntryEvent<?, ?>> events) {
            see(events);
        }

        @Override
        public void onRemoved(Iterable<javax.cache.event.CacheEntryEvent<?, ?>> events) {
            see(events);
        }
    }

    @Test
    void shouldGiveListenersCopiesOfKeysValuesAndOldValues() {
        final Cache<Object, Object> cache = caches.create(objects());
        final List<TouchyListener> listeners = List.of(new TouchyListener(), new TouchyListener());
        listeners.forEach(listener -> cache.registerCacheEntryListener(
                new MutableCacheEntryListenerConfiguration<>(() -> listener, null, true, true)));
        cache.put(list("key"), list("1"));
        cache.put(list("key"), list("2"));
        cache.remove(list("key"));
        for (TouchyListener listener : listeners) {
            assertThat(listener.seen)
                    .isEqualTo(List.of(list("key"), list("2"), list("1"), list("key"), list("2"), list("2")));
        }
    }
}
