package org.rowankv.jcache.management;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.rowankv.runtime.ManualClock;

/** Each counter equals the events while statistics were enabled, since the last clear. */
final class StatisticsModelTest {
    enum Step {
        ENABLE,
        DISABLE,
        CLEAR,
        EVICT,
        HIT,
        MISS,
        PUT,
        REMOVE
    }

    @Property(tries = 500)
    void shouldCountWhatHappensWhileTheyAreOn(@ForAll @Size(max = 20) List<Step> steps) {
        final long[] evictedEver = {17};
        final Statistics statistics = new Statistics(new ManualClock(5, 5), () -> evictedEver[0]);
        boolean on = false;
        final long[] expected = new long[Step.values().length];
        for (Step step : steps) {
            switch (step) {
                case ENABLE -> statistics.enable(true);
                case DISABLE -> statistics.enable(false);
                case CLEAR -> statistics.clear();
                case EVICT -> evictedEver[0] += 3;
                case HIT -> statistics.got(true, statistics.start());
                case MISS -> statistics.got(0, 3, statistics.start());
                case PUT -> statistics.put(statistics.start());
                case REMOVE -> statistics.removed(statistics.start());
            }
            on = step == Step.ENABLE || on && step != Step.DISABLE;
            if (step == Step.CLEAR) {
                java.util.Arrays.fill(expected, 0);
            } else if (on) {
                expected[step.ordinal()] += step == Step.MISS || step == Step.EVICT ? 3 : 1;
            }
            assertThat(statistics.isEnabled()).isEqualTo(on);
            assertThat(statistics.getCacheEvictions())
                    .as("evictions after %s", step)
                    .isEqualTo(expected[Step.EVICT.ordinal()]);
            assertThat(statistics.getCacheHits()).isEqualTo(expected[Step.HIT.ordinal()]);
            assertThat(statistics.getCacheMisses()).isEqualTo(expected[Step.MISS.ordinal()]);
            assertThat(statistics.getCachePuts()).isEqualTo(expected[Step.PUT.ordinal()]);
            assertThat(statistics.getCacheRemovals()).isEqualTo(expected[Step.REMOVE.ordinal()]);
        }
    }
}
