package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.model.ModelCaches;
import org.rowankv.jcache.operation.VersionedEntry;

class IteratorTest {
    private final ModelCaches caches = new ModelCaches();
    private final Cache<String, String> cache = caches.create();

    @AfterEach
    void close() {
        caches.close();
    }

    @Test
    void shouldWalkManyPagesSeeingEachEntryOnce() {
        final Map<String, String> expected = new HashMap<>();
        for (int i = 0; i < 5_000; i++) {
            expected.put("k" + i, "v" + i);
        }
        cache.putAll(expected);
        final Map<String, String> seen = new HashMap<>();
        for (Cache.Entry<String, String> entry : cache) {
            assertThat(seen.put(entry.getKey(), entry.getValue())).isNull();
        }
        assertThat(seen).isEqualTo(expected);
    }

    @Test
    void shouldKeepTheIteratorsRules() {
        cache.put("k", "v");
        final Iterator<Cache.Entry<String, String>> iterator = cache.iterator();
        assertThatThrownBy(iterator::remove).isInstanceOf(IllegalStateException.class);
        assertThat(iterator.next().getKey()).isEqualTo("k");
        assertThatThrownBy(iterator::next).isInstanceOf(NoSuchElementException.class);
        assertThat(iterator.hasNext()).isFalse();
        iterator.remove();
        assertThatThrownBy(iterator::remove).isInstanceOf(IllegalStateException.class);
        assertThat(cache.containsKey("k")).isFalse();
    }

    @Test
    void shouldRemoveTheEntryReturnedLastEvenAfterLookingAhead() {
        cache.putAll(Map.of("a", "1", "b", "2", "c", "3"));
        final Iterator<Cache.Entry<String, String>> iterator = cache.iterator();
        final String first = iterator.next().getKey();
        assertThat(iterator.hasNext()).isTrue();
        iterator.remove();
        assertThat(cache.containsKey(first)).isFalse();
        final Set<String> rest = new HashSet<>();
        iterator.forEachRemaining(entry -> rest.add(entry.getKey()));
        assertThat(rest).hasSize(2).doesNotContain(first);
    }

    @Test
    void shouldNeverReturnWhatHasExpiredBehindThePage() {
        final Cache<String, String> expiring =
                caches.create(ModelCaches.strings(new CreatedExpiryPolicy(new Duration(TimeUnit.SECONDS, 1))));
        for (int i = 0; i < 100; i++) {
            expiring.put("k" + i, "v");
        }
        final Iterator<Cache.Entry<String, String>> iterator = expiring.iterator();
        assertThat(iterator.next()).isNotNull();
        assertThat(iterator.hasNext()).isTrue();
        caches.clock().advanceMs(1_000);
        assertThat(iterator.next()).as("found alive by hasNext").isNotNull();
        assertThat(iterator.hasNext()).isFalse();
    }

    @Test
    void shouldGiveEntriesWithTheirVersions() {
        cache.put("k", "v");
        final VersionedEntry<?, ?> entry = cache.iterator().next().unwrap(VersionedEntry.class);
        assertThat(ModelCaches.unwrap(cache).removeIfVersion("k", entry.version()))
                .isTrue();
        assertThatThrownBy(() -> entry.unwrap(String.class)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldEndWithItsCache() {
        cache.put("k", "v");
        final Iterator<Cache.Entry<String, String>> iterator = cache.iterator();
        cache.close();
        assertThatThrownBy(iterator::hasNext).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(iterator::next).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(iterator::remove).isInstanceOf(IllegalStateException.class);
    }
}
