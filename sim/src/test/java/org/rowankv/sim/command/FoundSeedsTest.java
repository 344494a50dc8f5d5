package org.rowankv.sim.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FoundSeedsTest {
    @Test
    void shouldReadTheSeedsOfEachForm() {
        assertThat(FoundSeeds.parse("""
            # What was found.
            --embedded 17 2026-11-22 an object came back

            --fabric leased 18 2026-11-23 two servers served one shard
            --embedded 19 2026-11-24 space was short
            """))
                .isEqualTo(Map.of(Form.EMBEDDED, List.of(17L, 19L), Form.LEASED, List.of(18L)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"--embedded 17 2026-11-22", "verify 17 2026-11-22 a loss", "--store 17 2026-11-22 a loss"})
    void shouldRefuseALineThatNamesNoSeed(String line) {
        assertThatThrownBy(() -> FoundSeeds.parse(line)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldKeepSeeds() {
        assertThat(FoundSeeds.kept().get(Form.EMBEDDED)).hasSizeGreaterThanOrEqualTo(8);
        assertThat(FoundSeeds.kept()).containsKeys(Form.CLUSTER, Form.LEASED);
    }
}
