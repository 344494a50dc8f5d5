package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryExpiredListener;
import javax.cache.event.CacheEntryRemovedListener;
import javax.cache.event.CacheEntryUpdatedListener;
import javax.cache.expiry.AccessedExpiryPolicy;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import javax.cache.expiry.EternalExpiryPolicy;
import javax.cache.expiry.ExpiryPolicy;
import javax.cache.expiry.ModifiedExpiryPolicy;
import javax.cache.expiry.TouchedExpiryPolicy;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.rowankv.jcache.model.ModelCaches;

/** Events of random operations under every kind of lifetime, compared with a model of one entry. */
final class EventsModelTest {
    private static final String KEY = "k";
    private static final Duration SECOND = new Duration(TimeUnit.SECONDS, 1);

    /** Evaluated on each call, unlike the JSR's own policies. */
    private record Asked(Duration creation, Duration update, Duration access) implements ExpiryPolicy {
        @Override
        public Duration getExpiryForCreation() {
            return creation;
        }

        @Override
        public Duration getExpiryForUpdate() {
            return update;
        }

        @Override
        public Duration getExpiryForAccess() {
            return access;
        }
    }

    private static final List<ExpiryPolicy> POLICIES = List.of(
            new EternalExpiryPolicy(),
            new CreatedExpiryPolicy(Duration.ZERO),
            new CreatedExpiryPolicy(SECOND),
            new ModifiedExpiryPolicy(SECOND),
            new AccessedExpiryPolicy(SECOND),
            new TouchedExpiryPolicy(SECOND),
            new Asked(Duration.ZERO, Duration.ETERNAL, null),
            new Asked(SECOND, Duration.ZERO, null),
            new Asked(SECOND, SECOND, Duration.ZERO),
            new Asked(SECOND, null, SECOND),
            new Asked(Duration.ETERNAL, SECOND, Duration.ZERO));

    /** Model of one entry and its expected events. */
    private static final class Entry {
        private final ExpiryPolicy policy;
        private final List<String> events = new ArrayList<>();
        private String value;
        private long endMs;
        private long nowMs;

        Entry(ExpiryPolicy policy) {
            this.policy = policy;
        }

        /** Any operation ends an entry whose lifetime is over. */
        Entry meet() {
            if (value != null && endMs <= nowMs) {
                end("EXPIRED");
            }
            return this;
        }

        private void end(String type) {
            events.add(type + " " + KEY + "=" + value + " old " + value);
            value = null;
        }

        private void lives(Duration duration) {
            endMs = duration.isEternal()
                    ? Long.MAX_VALUE
                    : nowMs + duration.getTimeUnit().toMillis(duration.getDurationAmount());
        }

        void write(String next) {
            final Duration ttl = value == null ? policy.getExpiryForCreation() : policy.getExpiryForUpdate();
            if (ttl != null && ttl.isZero()) {
                if (value != null) {
                    end("EXPIRED");
                }
                return;
            }
            events.add(value == null ? "CREATED k=" + next : "UPDATED k=" + next + " old " + value);
            value = next;
            if (ttl != null) {
                lives(ttl);
            }
        }

        void access() {
            final Duration ttl = value == null ? null : policy.getExpiryForAccess();
            if (ttl != null && ttl.isZero()) {
                end("EXPIRED");
            } else if (ttl != null) {
                lives(ttl);
            }
        }

        void remove() {
            if (value != null) {
                end("REMOVED");
            }
        }
    }

    private static final class Recorder
            implements CacheEntryCreatedListener<String, String>,
                    CacheEntryUpdatedListener<String, String>,
                    CacheEntryRemovedListener<String, String>,
                    CacheEntryExpiredListener<String, String> {
        private final List<String> received = new ArrayList<>();

        private void hear(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            for (CacheEntryEvent<? extends String, ? extends String> event : events) {
                final String old = event.isOldValueAvailable() ? " old " + event.getOldValue() : "";
                received.add(event.getEventType() + " " + event.getKey() + "=" + event.getValue() + old);
            }
        }

        @Override
        public void onCreated(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            hear(events);
        }

        @Override
        public void onUpdated(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            hear(events);
        }

        @Override
        public void onRemoved(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            hear(events);
        }

        @Override
        public void onExpired(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            hear(events);
        }
    }

    /** Executes an operation on both; conditions refer to the previous values. */
    private static void step(int operation, String value, Cache<String, String> cache, Entry entry) {
        final String before = entry.meet().value;
        final boolean equal = value.equals(before);
        switch (operation) {
            case 0 -> {
                cache.put(KEY, value);
                entry.write(value);
            }
            case 1 -> {
                assertThat(cache.getAndPut(KEY, value)).isEqualTo(before);
                entry.write(value);
            }
            case 2 -> {
                cache.putAll(Map.of(KEY, value));
                entry.write(value);
            }
            case 3 -> {
                cache.putIfAbsent(KEY, value);
                if (before == null) {
                    entry.write(value);
                }
            }
            case 4 -> {
                assertThat(cache.replace(KEY, value)).isEqualTo(before != null);
                if (before != null) {
                    entry.write(value);
                }
            }
            case 5 -> {
                assertThat(cache.replace(KEY, value, value + "'")).isEqualTo(equal);
                if (equal) {
                    entry.write(value + "'");
                } else {
                    entry.access();
                }
            }
            case 6 -> {
                assertThat(cache.getAndReplace(KEY, value)).isEqualTo(before);
                if (before != null) {
                    entry.write(value);
                }
            }
            case 7 -> {
                assertThat(cache.remove(KEY)).isEqualTo(before != null);
                entry.remove();
            }
            case 8 -> {
                assertThat(cache.remove(KEY, value)).isEqualTo(equal);
                if (equal) {
                    entry.remove();
                } else {
                    entry.access();
                }
            }
            case 9 -> {
                assertThat(cache.getAndRemove(KEY)).isEqualTo(before);
                entry.remove();
            }
            case 10 -> {
                assertThat(cache.get(KEY)).isEqualTo(before);
                entry.access();
            }
            case 11 -> assertThat(cache.containsKey(KEY)).isEqualTo(before != null);
            case 12 -> {
                cache.invoke(KEY, (processed, arguments) -> {
                    processed.setValue(value);
                    return null;
                });
                entry.write(value);
            }
            default -> {
                assertThat(cache.<String>invoke(KEY, (processed, arguments) -> processed.getValue()))
                        .isEqualTo(before);
                entry.access();
            }
        }
    }

    @Property(tries = 400)
    void shouldTellWhatBecameOfTheEntryAndNothingElse(
            @ForAll @IntRange(max = 10) int policy,
            @ForAll @Size(max = 15) List<@IntRange(max = 14 * 2 * 3 - 1) Integer> steps) {
        try (ModelCaches caches = new ModelCaches()) {
            final Cache<String, String> cache = caches.create(ModelCaches.strings(POLICIES.get(policy)));
            final Recorder recorder = new Recorder();
            cache.registerCacheEntryListener(
                    new MutableCacheEntryListenerConfiguration<>(() -> recorder, null, true, true));
            final Entry entry = new Entry(POLICIES.get(policy));
            for (int step : steps) {
                final long passMs = step / 28 * 500L;
                caches.clock().advanceMs(passMs);
                entry.nowMs += passMs;
                step(step % 14, step / 14 % 2 == 0 ? "a" : "b", cache, entry);
                assertThat(recorder.received)
                        .as("after operation %d", step % 14)
                        .isEqualTo(entry.events);
            }
        }
    }
}
