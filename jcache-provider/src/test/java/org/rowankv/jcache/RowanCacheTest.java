package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import javax.cache.CacheException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.ModelSession;
import org.rowankv.jcache.model.ModelCaches;
import org.rowankv.jcache.operation.CacheFullException;
import org.rowankv.jcache.operation.Versioned;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/** Operations beyond the JSR. */
class RowanCacheTest {
    private final ModelCaches caches = new ModelCaches();
    private final RowanCache<String, String> cache = ModelCaches.unwrap(caches.create());

    @AfterEach
    void close() {
        caches.close();
    }

    @Test
    void shouldReplaceAndRemoveByVersion() {
        assertThat(cache.getVersioned("k").isPresent()).isFalse();
        cache.put("k", "a");
        final Versioned<String> read = cache.getVersioned("k");
        assertThat(read.value()).isEqualTo("a");
        assertThat(cache.replaceIfVersion("k", "b", read.version())).isTrue();
        assertThat(cache.replaceIfVersion("k", "c", read.version())).isFalse();
        assertThat(cache.removeIfVersion("k", read.version())).isFalse();
        assertThat(cache.removeIfVersion("k", cache.getVersioned("k").version()))
                .isTrue();
        assertThat(cache.replaceIfVersion("k", "c", read.version())).isFalse();
        assertThat(cache.containsKey("k")).isFalse();
    }

    @Test
    void shouldNotPassTheWriterBy() {
        final RowanCache<String, String> through = ModelCaches.unwrap(
                caches.create(ModelCaches.strings().setWriteThrough(true).setCacheWriterFactory(RecordingWriter::new)));
        assertThatThrownBy(() -> through.replaceIfVersion("k", "v", 1))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> through.removeIfVersion("k", 1)).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void shouldCompleteStages() {
        assertThat(cache.putIfAbsentAsync("k", "v").toCompletableFuture().join())
                .isTrue();
        cache.putAsync("k", "w").toCompletableFuture().join();
        assertThat(cache.getAsync("k").toCompletableFuture().join()).isEqualTo("w");
        assertThat(cache.removeAsync("k").toCompletableFuture().join()).isTrue();
        assertThat(cache.getAsync("k").toCompletableFuture().join()).isNull();
        caches.refuse(Operation.PUT, Status.FULL);
        assertThatThrownBy(() -> cache.putAsync("k", "v").toCompletableFuture().join())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(CacheFullException.class);
    }

    @Test
    void shouldHaveAStageForEveryOperationThatMayTakeTime() {
        cache.putAllAsync(Map.of("k", "v", "l", "w")).toCompletableFuture().join();
        assertThat(cache.getAllAsync(Set.of("k", "none")).toCompletableFuture().join())
                .isEqualTo(Map.of("k", "v"));
        final Versioned<String> read =
                cache.getVersionedAsync("k").toCompletableFuture().join();
        assertThat(cache.replaceIfVersionAsync("k", "x", read.version())
                        .toCompletableFuture()
                        .join())
                .isTrue();
        assertThat(cache.removeIfVersionAsync("k", read.version())
                        .toCompletableFuture()
                        .join())
                .isFalse();
        assertThat(cache.<String>invokeAsync("k", (entry, arguments) -> entry.getValue() + arguments[0], "!")
                        .toCompletableFuture()
                        .join())
                .isEqualTo("x!");
        for (Supplier<CompletionStage<?>> operation : List.<Supplier<CompletionStage<?>>>of(
                () -> cache.getAsync(null),
                () -> cache.getAllAsync(null),
                () -> cache.getVersionedAsync(null),
                () -> cache.putAsync("k", null),
                () -> cache.putAllAsync(null),
                () -> cache.putIfAbsentAsync(null, "v"),
                () -> cache.replaceIfVersionAsync(null, "v", 1),
                () -> cache.removeAsync(null),
                () -> cache.removeIfVersionAsync(null, 1),
                () -> cache.invokeAsync("k", null))) {
            assertThatThrownBy(() -> operation.get().toCompletableFuture().join())
                    .as("what the operation would throw is in the stage")
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(NullPointerException.class);
        }
    }

    @Test
    void shouldReadEachOnItsOwn() {
        cache.putAll(Map.of("good", "v", "b", "v"));
        caches.session().interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request request) {
                return request.keyLength() == 2 ? Status.CORRUPTED : Status.OK;
            }
        });
        final Map<String, CompletionStage<Versioned<String>>> read = cache.getEach(Set.of("good", "b", "none"));
        assertThat(read).containsOnlyKeys("good", "b", "none");
        assertThat(read.get("good").toCompletableFuture().join().value()).isEqualTo("v");
        assertThat(read.get("none").toCompletableFuture().join().isPresent()).isFalse();
        assertThatThrownBy(() -> read.get("b").toCompletableFuture().join())
                .hasCauseInstanceOf(CacheException.class)
                .hasMessageContaining("checksum");
        assertThatThrownBy(() -> cache.getAll(Set.of("good", "b"))).isInstanceOf(CacheException.class);
    }

    @Test
    void shouldDoNothingWhenOneOfTheKeysIsNull() {
        final Map<String, String> entries = new LinkedHashMap<>();
        entries.put("a", "1");
        entries.put(null, "2");
        assertThatThrownBy(() -> cache.putEach(entries)).isInstanceOf(NullPointerException.class);
        assertThat(cache.containsKey("a")).isFalse();
        cache.put("a", "1");
        assertThatThrownBy(() -> cache.removeEach(entries.keySet())).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> cache.getEach(entries.keySet())).isInstanceOf(NullPointerException.class);
        assertThat(cache.containsKey("a")).isTrue();
    }

    /** Tens of thousands of keys cost only the pages they are on: no own request, no value, no count. */
    @Test
    void shouldWalkManyKeysWithoutTheirValues() {
        final Set<String> expected = new HashSet<>();
        for (int i = 0; i < 40_000; i++) {
            cache.put("k" + i, "v");
            expected.add("k" + i);
        }
        final long callsBefore = caches.session().calls();
        final List<String> walked = new ArrayList<>();
        cache.keys().forEach(walked::add);
        assertThat(caches.session().calls()).isEqualTo(callsBefore);
        assertThat(walked).hasSize(40_000);
        assertThat(new HashSet<>(walked)).isEqualTo(expected);
        final Iterator<String> iterator = cache.keys().iterator();
        iterator.next();
        assertThatThrownBy(iterator::remove).isInstanceOf(UnsupportedOperationException.class);
        cache.clear();
        final Iterator<String> none = cache.keys().iterator();
        assertThat(none.hasNext()).isFalse();
        assertThatThrownBy(none::next).isInstanceOf(NoSuchElementException.class);
    }

    @Test
    void shouldThrowIllegalStateBeforeAnythingElseOnceClosed() {
        final Iterable<String> keys = cache.keys();
        final Iterator<String> iterator = keys.iterator();
        cache.close();
        for (Runnable operation : List.<Runnable>of(
                () -> cache.getVersioned(null),
                () -> cache.replaceIfVersion(null, null, 1),
                () -> cache.removeIfVersion(null, 1),
                () -> cache.putEach(null),
                () -> cache.removeEach(null),
                cache::keys,
                () -> assertThat(keys.iterator()).isNull(),
                () -> assertThat(iterator.hasNext()).isFalse(),
                iterator::next,
                cache::durability)) {
            assertThatThrownBy(operation::run).isInstanceOf(IllegalStateException.class);
        }
        assertThatThrownBy(() -> cache.getAsync(null).toCompletableFuture().join())
                .hasCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldTellWhichEntriesFailed() {
        caches.session().interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request request) {
                return request.keyLength() == 2 && request.operation() != Operation.GET ? Status.FULL : Status.OK;
            }
        });
        final Map<String, RuntimeException> failures = cache.putEach(Map.of("good", "v", "b", "v"));
        assertThat(failures).containsOnlyKeys("b");
        assertThat(failures.get("b")).isInstanceOf(CacheFullException.class);
        assertThat(cache.get("good")).isEqualTo("v");
        assertThat(cache.removeEach(List.of("good", "b"))).containsOnlyKeys("b");
        assertThat(cache.durability()).isNotBlank();
    }
}
