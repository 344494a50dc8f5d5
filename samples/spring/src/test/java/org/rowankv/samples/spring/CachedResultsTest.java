package org.rowankv.samples.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.annotation.PreDestroy;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.cache.annotation.CacheConfig;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.data.domain.Page;
import org.springframework.data.domain.PageImpl;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Slice;
import org.springframework.data.domain.SliceImpl;
import org.springframework.data.domain.Sort;

/** Results and keys as applications have them. */
final class CachedResultsTest {
    private static RunningLibrary library;

    /** Not serializable. */
    static class Note {
        private final String text;

        Note(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    @CacheConfig(cacheNames = "shelves")
    static class Shelves {
        private final AtomicInteger calls = new AtomicInteger();

        public int calls() {
            return calls.get();
        }

        @Cacheable
        public Optional<String> optional(String key) {
            calls.incrementAndGet();
            return key.startsWith("no") ? Optional.empty() : Optional.of(key);
        }

        @Cacheable(cacheNames = "collections")
        public Object collection(Object key) {
            calls.incrementAndGet();
            return key;
        }

        @Cacheable(cacheNames = "pageResults")
        public Page<String> page(PageRequest request) {
            calls.incrementAndGet();
            return new PageImpl<>(List.of("a", "b"), request, 12);
        }

        @Cacheable(cacheNames = "slices")
        public Slice<String> slice(PageRequest request) {
            calls.incrementAndGet();
            return new SliceImpl<>(List.of("a"), request, true);
        }

        @Cacheable(cacheNames = "amounts")
        public int amount(BigDecimal price, LocalDate day) {
            return calls.incrementAndGet();
        }

        @Cacheable(cacheNames = "plainNotes")
        public Note note(String key) {
            calls.incrementAndGet();
            return new Note("note " + key);
        }

        @Cacheable(cacheNames = "cleared")
        public int cleared(String key) {
            return calls.incrementAndGet();
        }

        @CachePut(cacheNames = "cleared", key = "#p0")
        public int put(String key, int value) {
            return value;
        }

        @CacheEvict(cacheNames = "cleared", allEntries = true)
        public void clear() {}

        @CacheEvict(cacheNames = "cleared", allEntries = true, beforeInvocation = true)
        public void clearBeforeFailing() {
            throw new IllegalStateException("after the eviction");
        }

        @Cacheable(cacheNames = "nothing", condition = "#p0 != 'never'", unless = "#result == 7")
        public int conditional(String key) {
            return calls.incrementAndGet() > 0 && key.equals("seven") ? 7 : 8;
        }
    }

    /** Uses a cache while the application stops. */
    static class Leaver {
        private final Shelves shelves;
        private String found = "";

        Leaver(Shelves shelves) {
            this.shelves = shelves;
        }

        @PreDestroy
        void leave() {
            found = shelves.optional("at the end").orElse("nothing");
        }
    }

    @BeforeAll
    static void start() {
        library = RunningLibrary.start(
                new Class<?>[] {LibraryApplication.class, Shelves.class, Leaver.class}, "rowan.settings.name=results");
    }

    @AfterAll
    static void stop() {
        final Leaver leaver = library.bean(Leaver.class);
        library.close();
        assertThat(leaver.found).as("by the method, the caches are closed").isEqualTo("at the end");
    }

    private static <T> T cached(Function<Shelves, T> call) {
        final Shelves shelves = library.bean(Shelves.class);
        final int before = shelves.calls();
        final T first = call.apply(shelves);
        final T second = call.apply(shelves);
        assertThat(shelves.calls()).as("calls").isEqualTo(before + 1);
        if (first != null) {
            assertThat(second).hasSameClassAs(first);
        }
        return second;
    }

    @Test
    void shouldCacheWhatAnOptionalHas() {
        final Optional<String> some = cached(shelves -> shelves.optional("some"));
        assertThat(some).contains("some");
        final Optional<String> none = cached(shelves -> shelves.optional("none"));
        assertThat(none).isEmpty();
    }

    @Test
    void shouldCacheCollectionsOfEachKind() {
        for (Object each : List.of(
                List.of(1, "x"),
                Set.of("a", "b", "c"),
                Map.of("k", List.of(1)),
                new int[] {1, 2},
                Optional.class,
                LocalDate.of(2024, 2, 29),
                new BigDecimal("1.50"))) {
            final Object found = cached(shelves -> shelves.collection(each));
            assertThat(found).isEqualTo(each);
        }
    }

    @Test
    void shouldCachePagesAndSlices() {
        final PageRequest request = PageRequest.of(1, 2, Sort.by("price").descending());
        final Page<String> page = cached(
                shelves -> shelves.page(PageRequest.of(1, 2, Sort.by("price").descending())));
        assertThat(page).isEqualTo(new PageImpl<>(List.of("a", "b"), request, 12));
        assertThat(page.getTotalPages()).isEqualTo(6);
        assertThat(page.getSort()).isEqualTo(request.getSort());
        assertThat(cached(shelves -> shelves.slice(request)).hasNext()).isTrue();
    }

    /** BigDecimal's equals tells scales apart. */
    @Test
    void shouldFindNumbersAndDaysAsTheirEqualsDoes() {
        final LocalDate day = LocalDate.of(2024, 2, 29);
        final int first = cached(shelves -> shelves.amount(new BigDecimal("1.50"), day));
        final int other = cached(shelves -> shelves.amount(new BigDecimal("1.5"), day));
        assertThat(other).isNotEqualTo(first);
        assertThat(library.bean(Shelves.class).amount(new BigDecimal("1.50"), LocalDate.of(2024, 2, 29)))
                .isEqualTo(first);
    }

    /** As with any cache of copies; what it lacks is logged. */
    @Test
    void shouldReturnWhatCannotBeCached() {
        final Shelves shelves = library.bean(Shelves.class);
        final int before = shelves.calls();
        assertThat(shelves.note("1").text()).isEqualTo("note 1");
        assertThat(shelves.note("1").text()).isEqualTo("note 1");
        assertThat(shelves.calls()).isEqualTo(before + 2);
    }

    @Test
    void shouldClearAllEntries() {
        final Shelves shelves = library.bean(Shelves.class);
        final int one = cached(each -> each.cleared("1"));
        cached(each -> each.cleared("2"));
        shelves.clear();
        final int again = cached(each -> each.cleared("1"));
        assertThat(again).isNotEqualTo(one);
        assertThat(shelves.put("1", 77)).isEqualTo(77);
        assertThat(shelves.cleared("1")).isEqualTo(77);
        assertThatThrownBy(shelves::clearBeforeFailing).hasMessage("after the eviction");
        assertThat(shelves.cleared("1")).isNotEqualTo(77);
    }

    @Test
    void shouldObeyConditions() {
        final Shelves shelves = library.bean(Shelves.class);
        cached(each -> each.conditional("ever"));
        for (String uncached : List.of("never", "seven")) {
            final int before = shelves.calls();
            shelves.conditional(uncached);
            shelves.conditional(uncached);
            assertThat(shelves.calls()).as(uncached).isEqualTo(before + 2);
        }
    }
}
