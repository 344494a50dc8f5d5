package org.rowankv.jcache.processor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Net effect of a processor, by the source of the value: cache, loader, or none. */
final class ProcessorEntryTest {
    /**
     * Each line: source of the value, steps (e exists, g getValue, s setValue, r remove), net action, and remaining
     * value.
     */
    @ParameterizedTest
    @CsvSource({
        "nowhere, '', NONE, none",
        "nowhere, e, NONE, none",
        "nowhere, g, NONE, none",
        "nowhere, s, CREATED, set",
        "nowhere, sg, CREATED, set",
        "nowhere, gs, CREATED, set",
        "nowhere, r, DELETED, none",
        "nowhere, gr, DELETED, none",
        "nowhere, sr, NONE, none",
        "nowhere, srg, NONE, none",
        "nowhere, rs, CREATED, set",
        "nowhere, srs, CREATED, set",
        "loader, '', NONE, none",
        "loader, e, NONE, none",
        "loader, g, LOADED, loaded",
        "loader, gg, LOADED, loaded",
        "loader, ge, LOADED, loaded",
        "loader, gs, CREATED, set",
        "loader, s, CREATED, set",
        "loader, sg, CREATED, set",
        "loader, r, DELETED, none",
        "loader, rg, DELETED, none",
        "loader, gr, NONE, none",
        "loader, grg, NONE, none",
        "loader, gsr, NONE, none",
        "loader, grs, CREATED, set",
        "cache, '', NONE, cached",
        "cache, e, NONE, cached",
        "cache, g, READ, cached",
        "cache, gs, UPDATED, set",
        "cache, s, UPDATED, set",
        "cache, sg, UPDATED, set",
        "cache, r, DELETED, none",
        "cache, gr, DELETED, none",
        "cache, rg, DELETED, none",
        "cache, sr, DELETED, none",
        "cache, rr, DELETED, none",
        "cache, rs, UPDATED, set",
        "cache, srs, UPDATED, set",
    })
    void shouldHaveTheNetOfWhatTheProcessorDid(String where, String steps, Action action, String left) {
        final AtomicInteger loads = new AtomicInteger();
        final ProcessorEntry<String, String> entry = new ProcessorEntry<>(
                "k",
                where.equals("cache") ? "cached" : null,
                key -> {
                    loads.incrementAndGet();
                    return where.equals("loader") ? "loaded" : null;
                },
                String.class);
        for (char step : steps.toCharArray()) {
            switch (step) {
                case 'e' -> assertThat(entry.exists()).isEqualTo(entry.value() != null);
                case 'g' -> assertThat(entry.getValue()).isEqualTo(entry.value());
                case 's' -> entry.setValue("set");
                case 'r' -> entry.remove();
                default -> throw new AssertionError(steps);
            }
        }
        assertThat(entry.action()).isEqualTo(action);
        assertThat(entry.value()).isEqualTo(left.equals("none") ? null : left);
        assertThat(entry.exists()).isEqualTo(!left.equals("none"));
        assertThat(entry.existed()).isEqualTo(where.equals("cache"));
        assertThat(loads.get()).isLessThanOrEqualTo(1);
    }
}
