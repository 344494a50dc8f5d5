package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.ModelSession;
import org.rowankv.jcache.model.ModelCaches;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/** What a cache can do beyond the JSR. */
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
