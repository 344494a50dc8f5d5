package org.rowankv.sim.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Violations that count as the same one while a plan is reduced. */
final class ShrinkingTest {
    private static final String MET =
            "cache 'sim 2' of id 3, key 2: key 8: no write can have made the version that is met";

    @Test
    void shouldTakeThoseForTheSameThatDifferInWhatTheyName() {
        assertThat(Shrinking.kindOf(MET + "\n    caller 0: put #17"))
                .isEqualTo(Shrinking.kindOf(
                        "cache 'sim 1' of id 1, key 0: key 12: no write can have made the version that is met"));
        assertThat(Shrinking.kindOf("replicas differ: [a, b]")).isEqualTo(Shrinking.kindOf("replicas differ: [c]"));
    }

    @Test
    void shouldTellOneMistakeFromAnother() {
        assertThat(Shrinking.kindOf(MET))
                .isNotEqualTo(Shrinking.kindOf(
                        "cache 'sim 2' of id 3, key 2: key 8: this value was never written to the key"));
        assertThat(Shrinking.kindOf(MET)).isNotEqualTo(Shrinking.kindOf("limits are not kept: [cache 2]"));
    }

    @Test
    void shouldHaveNoKindOfNoViolation() {
        assertThat(Shrinking.kindOf(null)).isEmpty();
    }
}
