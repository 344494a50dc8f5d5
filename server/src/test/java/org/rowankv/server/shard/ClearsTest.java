package org.rowankv.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The versions up to which caches were cleared. */
final class ClearsTest {
    /** A reader racing with the reuse of a segment may read such ids. */
    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1_040_950_491, -1, 16, Integer.MAX_VALUE})
    void shouldKnowNothingOfWhatIsNoCache(int cacheId) {
        final Clears clears = new Clears();
        clears.clear(3, 7, true);
        assertThat(clears.clearedUpTo(cacheId)).isZero();
        assertThat(clears.isDestroyed(cacheId)).isFalse();
    }

    @Test
    void shouldKeepTheHighestVersion() {
        final Clears clears = new Clears();
        clears.clear(20, 7, false);
        clears.clear(20, 5, false);
        assertThat(clears.clearedUpTo(20)).isEqualTo(7);
        assertThat(clears.isDestroyed(20)).isFalse();
    }
}
