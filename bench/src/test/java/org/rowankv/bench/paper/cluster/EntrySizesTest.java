package org.rowankv.bench.paper.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.bench.paper.model.EntityRandom;
import org.rowankv.bench.report.ObjectSizes;

final class EntrySizesTest {
    private static double mean(EntrySizes sizes) {
        final EntityRandom random = new EntityRandom(1);
        long sum = 0;
        for (int i = 0; i < 20_000; i++) {
            final int length = sizes.draw(random);
            assertThat(length % 64).isZero();
            assertThat(length).isBetween(64, 1024);
            sum += length;
        }
        return sum / 20_000.0;
    }

    @Test
    void shouldPadObjectsWithTheirMetadata() {
        assertThat(mean(EntrySizes.fixed(256))).isEqualTo(256);
        assertThat(mean(EntrySizes.fixed(200))).isEqualTo(256);
        assertThat(mean(new EntrySizes(ObjectSizes.ZIPPY_DB, EntrySizes.PAPERS_METADATA)))
                .isBetween(107.0, 145.0);
        assertThat(mean(new EntrySizes(ObjectSizes.ZIPPY_DB, EntrySizes.OUR_METADATA)))
                .isBetween(163.0, 200.0);
        assertThat(mean(new EntrySizes(ObjectSizes.UP2X, 0))).isLessThan(mean(new EntrySizes(ObjectSizes.UDB, 0)));
    }
}
