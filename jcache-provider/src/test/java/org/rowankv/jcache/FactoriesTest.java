package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.configuration.Factory;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryListenerException;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import javax.cache.expiry.ExpiryPolicy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.jcache.model.ModelCaches;

/** Misbehaving factories of a configuration, and policies that return nonsense. */
@Tag("jvm")
class FactoriesTest {
    private final ModelCaches caches = new ModelCaches();

    @AfterEach
    void close() {
        caches.close();
    }

    /** The places of factories in a configuration. */
    private enum Place {
        EXPIRY {
            @Override
            MutableConfiguration<String, String> with(Factory<?> factory) {
                return ModelCaches.strings().setExpiryPolicyFactory(cast(factory));
            }
        },
        LOADER {
            @Override
            MutableConfiguration<String, String> with(Factory<?> factory) {
                return ModelCaches.strings().setReadThrough(true).setCacheLoaderFactory(cast(factory));
            }
        },
        WRITER {
            @Override
            MutableConfiguration<String, String> with(Factory<?> factory) {
                return ModelCaches.strings().setWriteThrough(true).setCacheWriterFactory(cast(factory));
            }
        },
        LISTENER {
            @Override
            MutableConfiguration<String, String> with(Factory<?> factory) {
                return ModelCaches.strings()
                        .addCacheEntryListenerConfiguration(new MutableCacheEntryListenerConfiguration<>(
                                FactoriesTest.<Factory<ClosingListener>>cast(factory), null, false, true));
            }
        },
        FILTER {
            @Override
            MutableConfiguration<String, String> with(Factory<?> factory) {
                return ModelCaches.strings()
                        .addCacheEntryListenerConfiguration(new MutableCacheEntryListenerConfiguration<>(
                                () -> new ClosingListener(CLOSED), cast(factory), false, true));
            }
        };

        abstract MutableConfiguration<String, String> with(Factory<?> factory);
    }

    private static final List<String> CLOSED = new ArrayList<>();

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T> T cast(Factory<?> factory) {
        return (T) factory;
    }

    private static final class ClosingListener implements CacheEntryCreatedListener<String, String>, Closeable {
        private final List<String> closed;

        ClosingListener(List<String> closed) {
            this.closed = closed;
        }

        @Override
        public void onCreated(Iterable<CacheEntryEvent<? extends String, ? extends String>> events)
                throws CacheEntryListenerException {}

        @Override
        public void close() {
            closed.add("listener");
        }
    }

    private void mustHaveLeftNothing() {
        assertThat(caches.manager().getCacheNames()).isEmpty();
        final Cache<Long, Long> other = caches.manager()
                .createCache("c", new MutableConfiguration<Long, Long>().setTypes(Long.class, Long.class));
        other.put(1L, 1L);
        assertThat(other.get(1L)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void shouldPassOnWhatAFactoryThrowsAndLeaveNothingBehind(Place place) {
        CLOSED.clear();
        final IllegalStateException failure = new IllegalStateException("no database");
        final MutableConfiguration<String, String> configuration = place.with(() -> {
            throw failure;
        });
        assertThatThrownBy(() -> caches.manager().createCache("c", configuration))
                .isSameAs(failure);
        assertThat(CLOSED)
                .as("what was made before")
                .isEqualTo(place == Place.FILTER ? List.of("listener") : List.of());
        mustHaveLeftNothing();
    }

    @ParameterizedTest
    @EnumSource
    void shouldSayWhichFactoryReturnedNull(Place place) {
        CLOSED.clear();
        assertThatThrownBy(() -> caches.manager().createCache("c", place.with(() -> null)))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining(place.name().toLowerCase(java.util.Locale.ROOT))
                .hasMessageContaining("returned null");
        mustHaveLeftNothing();
    }

    /** A configuration stays in its JVM, so no part must be serializable. */
    @Test
    void shouldTakeFactoriesThatDoNotSerialize() {
        final Object unserializable = new Object();
        final List<String> heard = new ArrayList<>();
        final RecordingWriter writer = new RecordingWriter();
        final MutableConfiguration<String, String> configuration = ModelCaches.strings()
                .setExpiryPolicyFactory(() -> {
                    assertThat(unserializable).isNotNull();
                    return new CreatedExpiryPolicy(Duration.ONE_DAY);
                })
                .setReadThrough(true)
                .setCacheLoaderFactory(() -> {
                    assertThat(unserializable).isNotNull();
                    return new MapLoader(Map.of("row", "loaded"));
                })
                .setWriteThrough(true)
                .setCacheWriterFactory(() -> {
                    assertThat(unserializable).isNotNull();
                    return writer;
                })
                .addCacheEntryListenerConfiguration(new MutableCacheEntryListenerConfiguration<>(
                        () -> (CacheEntryCreatedListener<String, String>) events ->
                                events.forEach(event -> heard.add(event.getKey() + "|" + unserializable.hashCode())),
                        () -> event -> unserializable != null,
                        false,
                        true));
        assertThatThrownBy(() -> new ObjectOutputStream(new ByteArrayOutputStream()).writeObject(configuration))
                .isInstanceOf(NotSerializableException.class);
        final Cache<String, String> cache = caches.create(configuration);
        assertThat(cache.get("row")).isEqualTo("loaded");
        cache.put("k", "v");
        assertThat(writer.written()).containsExactly("k=v");
        assertThat(heard).hasSize(2);
    }

    /** Returns one lifetime for everything. */
    private static ExpiryPolicy always(Duration duration) {
        return new ExpiryPolicy() {
            @Override
            public Duration getExpiryForCreation() {
                return duration;
            }

            @Override
            public Duration getExpiryForAccess() {
                return duration;
            }

            @Override
            public Duration getExpiryForUpdate() {
                return duration;
            }
        };
    }

    /** A lifetime beyond the end of time is eternal; so is a missing one at creation. */
    @Test
    void shouldTakeOverflowingAndMissingLifetimesForEternal() {
        final List<ExpiryPolicy> policies = new ArrayList<>();
        for (Duration duration : new Duration[] {
            new Duration(TimeUnit.DAYS, Long.MAX_VALUE),
            new Duration(TimeUnit.MILLISECONDS, Long.MAX_VALUE),
            new Duration(TimeUnit.MILLISECONDS, Long.MAX_VALUE - 1),
            new Duration(TimeUnit.HOURS, Long.MAX_VALUE / 3_600_000),
            null
        }) {
            policies.add(always(duration));
        }
        policies.add(new CreatedExpiryPolicy(new Duration(TimeUnit.MILLISECONDS, Long.MAX_VALUE - 1)));
        for (ExpiryPolicy policy : policies) {
            final Cache<String, String> cache = caches.create(ModelCaches.strings(policy));
            cache.put("k", "v");
            cache.put("k", "w");
            assertThat(cache.get("k")).isEqualTo("w");
            caches.clock().advanceMs(TimeUnit.DAYS.toMillis(3_650));
            assertThat(cache.getAll(Set.of("k"))).containsEntry("k", "w");
        }
    }

    @Test
    void shouldPassOnAnErrorOfAPolicyWithTheEntryAsItWas() {
        final boolean[] broken = {false};
        final Cache<String, String> cache = caches.create(ModelCaches.strings(new ExpiryPolicy() {
            private Duration answer() {
                if (broken[0]) {
                    throw new NoClassDefFoundError("gone");
                }
                return Duration.ONE_DAY;
            }

            @Override
            public Duration getExpiryForCreation() {
                return answer();
            }

            @Override
            public Duration getExpiryForAccess() {
                return null;
            }

            @Override
            public Duration getExpiryForUpdate() {
                return answer();
            }
        }));
        cache.put("k", "v");
        broken[0] = true;
        assertThatThrownBy(() -> cache.put("k", "w")).isInstanceOf(NoClassDefFoundError.class);
        assertThatThrownBy(() -> cache.put("l", "w")).isInstanceOf(NoClassDefFoundError.class);
        assertThat(cache.get("k")).isEqualTo("v");
        assertThat(cache.containsKey("l")).isFalse();
        broken[0] = false;
        cache.put("k", "w");
        assertThat(cache.get("k")).isEqualTo("w");
    }
}
