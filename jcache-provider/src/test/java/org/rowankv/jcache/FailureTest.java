package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.configuration.MutableConfiguration;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.codec.ClassNotAllowedException;
import org.rowankv.jcache.model.ModelCaches;
import org.rowankv.jcache.operation.CacheFullException;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Status;

/** Invalid input, and statuses of the store other than results. */
@Tag("jvm")
class FailureTest {
    private final ModelCaches caches = new ModelCaches();
    private final Cache<String, String> cache = caches.create();
    private final Cache<Object, Object> objects = caches.create(new MutableConfiguration<>());

    @AfterEach
    void close() {
        caches.close();
    }

    @Test
    void shouldRefuseNullsWithoutTouchingAnything() {
        cache.put("k", "v");
        final Map<String, String> nullValue = new HashMap<>();
        nullValue.put("a", "1");
        nullValue.put("b", null);
        final Map<String, String> nullKey = new HashMap<>();
        nullKey.put("a", "1");
        nullKey.put(null, "2");
        for (Runnable operation : List.<Runnable>of(
                () -> cache.get(null),
                () -> cache.getAll(null),
                () -> cache.containsKey(null),
                () -> cache.put(null, "v"),
                () -> cache.put("k", null),
                () -> cache.getAndPut("k", null),
                () -> cache.putIfAbsent("k", null),
                () -> cache.putAll(null),
                () -> cache.putAll(nullValue),
                () -> cache.putAll(nullKey),
                () -> cache.remove(null),
                () -> cache.remove("k", null),
                () -> cache.getAndRemove(null),
                () -> cache.removeAll(null),
                () -> cache.replace("k", null),
                () -> cache.replace("k", null, "v"),
                () -> cache.replace("k", "v", null),
                () -> cache.getAndReplace("k", null),
                () -> cache.invoke(null, (entry, arguments) -> null),
                () -> cache.invoke("k", null),
                () -> cache.invokeAll(null, (entry, arguments) -> null),
                () -> cache.invokeAll(Set.of("k"), null),
                () -> cache.loadAll(null, true, null),
                () -> cache.registerCacheEntryListener(null),
                () -> cache.deregisterCacheEntryListener(null),
                () -> caches.manager().createCache(null, ModelCaches.strings()),
                () -> caches.manager().createCache("x", null),
                () -> caches.manager().destroyCache(null),
                () -> caches.manager().getCache(null))) {
            assertThatThrownBy(operation::run).isInstanceOf(NullPointerException.class);
        }
        assertThat(cache.get("k")).isEqualTo("v");
        assertThat(cache.containsKey("a")).as("putAll checks before it puts").isFalse();
    }

    @Test
    @SuppressWarnings({"unchecked", "rawtypes"})
    void shouldRefuseOtherTypesThanConfigured() {
        final Cache raw = cache;
        for (Runnable operation : List.<Runnable>of(
                () -> raw.put(1, "v"),
                () -> raw.put("k", 1),
                () -> raw.get(1),
                () -> raw.putAll(Map.of("k", 1)),
                () -> raw.replace("k", 1, "v"),
                () -> raw.remove("k", 1),
                () -> raw.getAndPut("k", 1),
                () -> raw.containsKey(1))) {
            assertThatThrownBy(operation::run)
                    .isInstanceOf(ClassCastException.class)
                    .hasMessageContaining("java.lang.String");
        }
        assertThat(cache.containsKey("k")).isFalse();
    }

    private static final class Ours implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    @Test
    void shouldSayWhichClassIsNotAllowedAndWhereToAllowIt() {
        final Cache<Object, Object> strict = caches.provider()
                .getCacheManager(URI.create("rowan:embedded?allowed-classes=com.acme.*"), null)
                .createCache("strict", new MutableConfiguration<>());
        strict.put("k", "v");
        for (Runnable operation : List.<Runnable>of(
                () -> strict.put("k", new Ours()),
                () -> strict.put(new Ours(), "v"),
                () -> strict.putAll(Map.of("l", new ArrayList<>(List.of(new Ours())))))) {
            assertThatThrownBy(operation::run)
                    .isInstanceOf(ClassNotAllowedException.class)
                    .hasMessageContaining(Ours.class.getName())
                    .hasMessageContaining("rowan.allowed-classes=com.acme.*;" + Ours.class.getName());
        }
        assertThat(strict.get("k")).isEqualTo("v");
        final Cache<Object, Object> allowing = caches.provider()
                .getCacheManager(URI.create("rowan:embedded?allowed-classes=org.rowankv.jcache.*"), null)
                .createCache("allowing", new MutableConfiguration<>());
        allowing.put("k", new Ours());
        assertThat(allowing.get("k")).isInstanceOf(Ours.class);
    }

    @Test
    void shouldAllowEveryClassInThisJvmWhereNothingIsListed() {
        objects.put("k", new ArrayList<>(List.of(new Ours())));
        assertThat(objects.get("k"))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .singleElement()
                .isInstanceOf(Ours.class);
    }

    @Test
    void shouldLeaveAnEntryAloneWhoseClassIsNotAllowedToTheReader() {
        final var allowing = caches.provider()
                .getCacheManager(URI.create("rowan:embedded?allowed-classes=org.rowankv.jcache.*"), null);
        allowing.createCache("shared", new MutableConfiguration<>()).put("k", new Ours());
        final Cache<Object, Object> strict = caches.provider()
                .getCacheManager(URI.create("rowan:embedded?allowed-classes=com.acme.*"), null)
                .createCache("shared", new MutableConfiguration<>());
        assertThatThrownBy(() -> strict.get("k")).isInstanceOf(ClassNotAllowedException.class);
        assertThat(strict.containsKey("k")).isTrue();
        assertThat(allowing.getCache("shared").get("k")).isInstanceOf(Ours.class);
        assertThat(strict.remove("k")).isTrue();
    }

    @Test
    void shouldRefuseWhatIsNotSerializable() {
        assertThatThrownBy(() -> objects.put("k", new Object()))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("java.lang.Object");
        assertThat(objects.containsKey("k")).isFalse();
        objects.put("k", "v");
        assertThat(objects.get("k")).isEqualTo("v");
    }

    @Test
    void shouldSurviveAStackOverflowWhileEncoding() {
        List<Object> deep = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            final List<Object> outer = new ArrayList<>(1);
            outer.add(deep);
            deep = outer;
        }
        final List<Object> tooDeep = deep;
        for (int i = 0; i < 20; i++) {
            assertThatThrownBy(() -> objects.put("k", tooDeep)).isInstanceOf(StackOverflowError.class);
            objects.put("k", "v" + i);
            assertThat(objects.get("k")).isEqualTo("v" + i);
        }
    }

    /** Maps may throw when asked for null. */
    @Test
    void shouldPutAllOfAMapThatKnowsNoNull() {
        cache.putAll(new ConcurrentHashMap<>(Map.of("a", "1", "b", "2")));
        cache.putAll(new TreeMap<>(Map.of("c", "3")));
        cache.putAll(Map.of("d", "4"));
        assertThat(cache.getAll(ConcurrentHashMap.newKeySet())).isEmpty();
        assertThat(cache.getAll(Set.of("a", "b", "c", "d"))).hasSize(4);
        final Set<String> concurrent = ConcurrentHashMap.newKeySet();
        concurrent.addAll(Set.of("a", "b"));
        cache.removeAll(concurrent);
        assertThat(cache.getAll(Set.of("a", "b", "c", "d"))).containsOnlyKeys("c", "d");
    }

    @Test
    void shouldSayThatTheStoreIsFullAndGoOnReading() {
        cache.put("k", "v");
        caches.refuse(Operation.PUT, Status.FULL);
        for (Runnable operation : List.<Runnable>of(
                () -> cache.put("k", "w"),
                () -> cache.getAndPut("l", "w"),
                () -> cache.putAll(Map.of("m", "w", "n", "w")),
                () -> cache.replace("k", "v", "w"),
                () -> cache.invoke("k", (entry, arguments) -> {
                    entry.setValue("w");
                    return null;
                }))) {
            assertThatThrownBy(operation::run)
                    .isInstanceOf(CacheFullException.class)
                    .hasMessageContaining("full");
        }
        assertThat(cache.get("k")).isEqualTo("v");
        assertThat(cache.remove("k")).isTrue();
        caches.heal();
        cache.put("k", "w");
        assertThat(cache.get("k")).isEqualTo("w");
    }

    @Test
    void shouldMapEveryOtherOutcome() {
        for (Status status : List.of(Status.TOO_LARGE, Status.CORRUPTED, Status.OUTCOME_UNKNOWN, Status.STALE_TERM)) {
            caches.refuse(Operation.PUT, status);
            assertThatThrownBy(() -> cache.put("k", "v"))
                    .isInstanceOf(CacheException.class)
                    .isNotInstanceOf(CacheFullException.class);
        }
        caches.refuse(Operation.GET, Status.CORRUPTED);
        assertThatThrownBy(() -> cache.get("k"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("checksum");
        caches.refuse(Operation.GET, Status.CLOSED);
        assertThatThrownBy(() -> cache.get("k")).isInstanceOf(IllegalStateException.class);
        caches.heal();
        assertThat(cache.get("k")).isNull();
    }
}
