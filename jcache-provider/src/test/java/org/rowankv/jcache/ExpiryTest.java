package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.expiry.Duration;
import javax.cache.expiry.ExpiryPolicy;
import javax.cache.expiry.TouchedExpiryPolicy;
import javax.cache.integration.CompletionListenerFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.model.ModelCaches;

class ExpiryTest {
    /** Returns preset lifetimes and records its calls. */
    private static final class Recorder implements ExpiryPolicy {
        final List<String> asked = new ArrayList<>();
        Duration creation = Duration.ETERNAL;
        Duration access;
        Duration update;

        @Override
        public Duration getExpiryForCreation() {
            asked.add("create");
            return creation;
        }

        @Override
        public Duration getExpiryForAccess() {
            asked.add("access");
            return access;
        }

        @Override
        public Duration getExpiryForUpdate() {
            asked.add("update");
            return update;
        }
    }

    private final ModelCaches caches = new ModelCaches();
    private final Recorder policy = new Recorder();
    private final Cache<String, String> cache = caches.create(ModelCaches.strings(policy));

    @AfterEach
    void close() {
        caches.close();
    }

    private void asks(Runnable operation, String... calls) {
        policy.asked.clear();
        operation.run();
        assertThat(policy.asked).containsExactly(calls);
    }

    @Test
    void shouldAskOnAbsentEntriesWhatTheTableSays() {
        asks(() -> cache.get("k"));
        asks(() -> cache.getAll(Set.of("k")));
        asks(() -> cache.containsKey("k"));
        asks(() -> cache.replace("k", "v"));
        asks(() -> cache.replace("k", "v", "w"));
        asks(() -> cache.getAndReplace("k", "v"));
        asks(() -> cache.remove("k"));
        asks(() -> cache.remove("k", "v"));
        asks(() -> cache.getAndRemove("k"));
        asks(() -> cache.removeAll(Set.of("k")));
        asks(() -> cache.invoke("k", (entry, arguments) -> entry.getValue()));
        asks(() -> cache.put("put", "v"), "create");
        asks(() -> cache.getAndPut("getAndPut", "v"), "create");
        asks(() -> cache.putIfAbsent("putIfAbsent", "v"), "create");
        asks(() -> cache.putAll(Map.of("putAll", "v")), "create");
        asks(
                () -> cache.invoke("invoke", (entry, arguments) -> {
                    entry.setValue("v");
                    return null;
                }),
                "create");
    }

    @Test
    void shouldAskOnPresentEntriesWhatTheTableSays() {
        cache.put("k", "v");
        asks(() -> cache.get("k"), "access");
        asks(() -> cache.getAll(Set.of("k")), "access");
        asks(() -> cache.containsKey("k"));
        asks(() -> cache.put("k", "v"), "update");
        asks(() -> cache.putAll(Map.of("k", "v")), "update");
        asks(() -> cache.getAndPut("k", "v"), "update");
        asks(() -> cache.putIfAbsent("k", "w"));
        asks(() -> cache.replace("k", "v"), "update");
        asks(() -> cache.getAndReplace("k", "v"), "update");
        asks(() -> cache.replace("k", "v", "v"), "update");
        asks(() -> cache.replace("k", "other", "v"), "access");
        asks(() -> cache.remove("k", "other"), "access");
        asks(() -> cache.iterator().next(), "access");
        asks(() -> assertThat(cache.iterator().hasNext()).isTrue());
        asks(() -> cache.invoke("k", (entry, arguments) -> entry.exists()));
        asks(() -> cache.invoke("k", (entry, arguments) -> entry.getValue()), "access");
        asks(
                () -> cache.invoke("k", (entry, arguments) -> {
                    entry.setValue(entry.getValue() + "!");
                    return null;
                }),
                "update");
        asks(() -> cache.remove("k", "v!"));
        cache.put("k", "v");
        asks(() -> cache.remove("k"));
        asks(() -> cache.clear());
    }

    @Test
    void shouldGiveLifetimesAsAnswered() {
        policy.creation = new Duration(TimeUnit.MILLISECONDS, 100);
        policy.access = new Duration(TimeUnit.MILLISECONDS, 200);
        policy.update = new Duration(TimeUnit.MILLISECONDS, 300);
        cache.put("created", "v");
        cache.put("read", "v");
        cache.get("read");
        cache.put("updated", "v");
        cache.put("updated", "w");
        caches.clock().advanceMs(100);
        assertThat(present()).containsExactlyInAnyOrder("read", "updated");
        caches.clock().advanceMs(100);
        assertThat(present()).containsExactly("updated");
        caches.clock().advanceMs(100);
        assertThat(present()).isEmpty();
    }

    private Set<String> present() {
        final Set<String> present = new HashSet<>();
        for (String key : List.of("created", "read", "updated")) {
            if (cache.containsKey(key)) {
                present.add(key);
            }
        }
        return present;
    }

    @Test
    void shouldNotChangeTheVersionByATouch() {
        final RowanCache<String, String> versioned = ModelCaches.unwrap(touched());
        versioned.put("k", "v");
        final long version = versioned.getVersioned("k").version();
        versioned.get("k");
        assertThat(versioned.replaceIfVersion("k", "w", version)).isTrue();
    }

    private Cache<String, String> touched() {
        return caches.create(ModelCaches.strings(new TouchedExpiryPolicy(new Duration(TimeUnit.SECONDS, 1))));
    }

    @Test
    void shouldTouchOnEveryReadWithAConstantPolicy() {
        final Cache<String, String> touched = touched();
        touched.put("k", "v");
        for (int i = 0; i < 5; i++) {
            caches.clock().advanceMs(999);
            assertThat(touched.get("k")).isEqualTo("v");
        }
        for (int i = 0; i < 3; i++) {
            caches.clock().advanceMs(999);
            assertThat(touched.iterator().next().getValue()).isEqualTo("v");
        }
        caches.clock().advanceMs(999);
        assertThat(touched.remove("k", "other")).isFalse();
        caches.clock().advanceMs(999);
        assertThat(touched.containsKey("k")).isTrue();
        caches.clock().advanceMs(1);
        assertThat(touched.containsKey("k")).isFalse();
    }

    @Test
    void shouldTreatZeroDurationsAsAlreadyOver() {
        policy.creation = Duration.ZERO;
        cache.put("k", "v");
        assertThat(cache.get("k")).isNull();
        assertThat(cache.remove("k")).isFalse();
        assertThat(cache.putIfAbsent("k", "v")).isFalse();
        policy.creation = Duration.ETERNAL;
        policy.update = Duration.ZERO;
        cache.put("k", "v");
        cache.put("k", "w");
        assertThat(cache.containsKey("k")).isFalse();
        policy.update = null;
        policy.access = Duration.ZERO;
        cache.put("k", "v");
        assertThat(cache.get("k")).isEqualTo("v");
        assertThat(cache.get("k")).isNull();
    }

    @Test
    void shouldAskForLoadsAsForPuts() throws Exception {
        final Recorder recorder = new Recorder();
        final Cache<String, String> loading = caches.create(ModelCaches.strings(recorder)
                .setReadThrough(true)
                .setCacheLoaderFactory(() -> new MapLoader(Map.of("k", "v", "l", "w"))));
        assertThat(loading.get("k")).isEqualTo("v");
        assertThat(recorder.asked).containsExactly("create");
        recorder.asked.clear();
        final CompletionListenerFuture done = new CompletionListenerFuture();
        loading.loadAll(Set.of("k", "l"), true, done);
        done.get();
        assertThat(recorder.asked).containsExactlyInAnyOrder("create", "update");
    }

    @Test
    void shouldSurviveAPolicyThatThrows() {
        final Cache<String, String> broken = caches.create(ModelCaches.strings(new ExpiryPolicy() {
            @Override
            public Duration getExpiryForCreation() {
                throw new IllegalStateException("broken");
            }

            @Override
            public Duration getExpiryForAccess() {
                throw new IllegalStateException("broken");
            }

            @Override
            public Duration getExpiryForUpdate() {
                throw new IllegalStateException("broken");
            }
        }));
        broken.put("k", "v");
        broken.put("k", "w");
        assertThat(broken.get("k")).isEqualTo("w");
    }

    @Test
    void shouldAskAgainOnlyForWhatItHasNotBeenToldWhenAnotherIsFaster() {
        // The first creation loses against another put; the retry is an update.
        final Cache<String, String> contended = caches.create(ModelCaches.strings(new ExpiryPolicy() {
            private boolean interfered;

            @Override
            public Duration getExpiryForCreation() {
                policy.asked.add("create");
                if (!interfered) {
                    interfered = true;
                    other().put("k", "theirs");
                }
                return Duration.ETERNAL;
            }

            @Override
            public Duration getExpiryForAccess() {
                return null;
            }

            @Override
            public Duration getExpiryForUpdate() {
                policy.asked.add("update");
                return null;
            }
        }));
        contendedCache = contended;
        asks(() -> contended.put("k", "mine"), "create", "create", "update");
        assertThat(contended.get("k")).isEqualTo("mine");
    }

    private Cache<String, String> contendedCache;

    private Cache<String, String> other() {
        return contendedCache;
    }
}
