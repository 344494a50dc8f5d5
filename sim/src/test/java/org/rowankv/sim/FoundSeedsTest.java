package org.rowankv.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class FoundSeedsTest {
    private static final String TEXT = """
            # What was found.
            sim 17 2026-11-22 an object came back

            sim --cluster 18 2026-11-23 two servers served one shard
            sim 19 2026-11-24 space was short
            """;

    @Test
    void shouldReadTheSeedsOfEachSimulator() {
        assertThat(FoundSeeds.parse(FoundSeeds.SIM, TEXT)).containsExactly(17L, 19L);
        assertThat(FoundSeeds.parse(FoundSeeds.SIM_CLUSTER, TEXT)).containsExactly(18L);
    }

    @Test
    void shouldRefuseALineThatSaysTooLittle() {
        assertThatThrownBy(() -> FoundSeeds.parse(FoundSeeds.SIM, "sim 17 2026-11-22"))
                .hasMessageContaining("'sim 17 2026-11-22' is not");
        assertThatThrownBy(() -> FoundSeeds.parse(FoundSeeds.SIM, "verify 17 2026-11-22 a loss"))
                .hasMessageContaining("is not");
    }

    @Test
    void shouldKeepSeedsOfBoth() {
        assertThat(FoundSeeds.kept(FoundSeeds.SIM)).hasSizeGreaterThanOrEqualTo(8);
        assertThat(FoundSeeds.kept(FoundSeeds.SIM_CLUSTER)).isNotEmpty();
    }
}
