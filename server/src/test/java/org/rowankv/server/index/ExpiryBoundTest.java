package org.rowankv.server.index;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The second before which nothing in a bucket expires, up to the end of its 32 bits and after it. */
final class ExpiryBoundTest {
    private static final long LAST_SECOND = (1L << 32) - 1;

    @ParameterizedTest
    @ValueSource(longs = {1, 999, 1000, 1001, LAST_SECOND * 1000, LAST_SECOND * 1000 + 1, 1L << 60, Long.MAX_VALUE - 1})
    void shouldNeverBeLaterThanTheSecondAfterTheEnd(long expiryMs) {
        final long bound = ExpiryBound.of(expiryMs);
        assertThat(bound).isBetween(1L, LAST_SECOND);
        assertThat(bound).isLessThanOrEqualTo(expiryMs / 1000 + 1);
        assertThat(ExpiryBound.in(ExpiryBound.with(7, bound))).isEqualTo(bound);
        assertThat(ReferenceBits.linkIn(ExpiryBound.with(7, bound))).isEqualTo(7);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 7})
    void shouldKeepThatNothingExpires(long link) {
        assertThat(ExpiryBound.of(Long.MAX_VALUE)).isEqualTo(ExpiryBound.NEVER);
        assertThat(ExpiryBound.in(ExpiryBound.with(link, ExpiryBound.NEVER))).isEqualTo(ExpiryBound.NEVER);
    }
}
