package org.rowankv.bench.jcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Values that the product keeps save requests nearly as the best cache of their number could. */
final class KeptValuesCurveTest {
    @Test
    void shouldSaveRequestsAsTheOraclesDo() {
        final ByteArrayOutputStream printed = new ByteArrayOutputStream();
        final KeptValuesCurve curve =
                new KeptValuesCurve(new PrintStream(printed, true, StandardCharsets.UTF_8), 20_000);
        curve.run();

        final String text = printed.toString(StandardCharsets.UTF_8);
        assertThat(curve.missed()).as(text).isZero();
        assertThat(curve.bars()).isEqualTo(13);
        assertThat(text).contains(" 0 % kept    0.0 % of gets hit").contains("1.000 requests per operation");
    }

    /** Gets of 0 and 1, a put of 0, a get of 2: by hand. */
    @Test
    void shouldCountWhatACacheCouldHit() {
        final int[] operations = {0, 0, 1, 1, 0, ~0, 0, 0, 2, 1, 0};
        final CacheOracle oracle = new CacheOracle(operations, 1);

        assertThat(oracle.lruHits(0)).isZero();
        assertThat(oracle.lruHits(1)).isEqualTo(3);
        assertThat(oracle.lruHits(2)).isEqualTo(4);
        assertThat(oracle.lruHits(3)).isEqualTo(6);
        assertThat(oracle.bestSetHits(0, 3)).isZero();
        assertThat(oracle.bestSetHits(1, 3)).isEqualTo(4);
        assertThat(oracle.bestSetHits(2, 3)).isEqualTo(6);
        assertThat(oracle.bestSetHits(3, 3)).isEqualTo(6);
    }
}
