package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rowankv.server.log.Space;

final class SpaceGrantTest {
    private static final long LIMIT = 1 << 20;

    private final Space space = new Space(LIMIT);
    private final SpaceGrant grant = new SpaceGrant(space);

    /** Whatever is acquired, used and released, in whatever portions: unused space is all available in the end. */
    @Test
    void shouldLoseNothingOfWhatIsDrawnAndGivenBack() {
        final Random random = new Random(7);
        long used = 0;
        for (int step = 0; step < 20_000; step++) {
            final long bytes = random.nextInt(random.nextBoolean() ? 200 : 100_000);
            switch (random.nextInt(5)) {
                case 0, 1 -> used += grant.acquire(bytes) ? bytes : 0;
                case 2 -> {
                    if (used + bytes < LIMIT + 50_000) {
                        grant.take(bytes);
                        used += bytes;
                    }
                }
                case 3 -> {
                    final long freed = Math.min(used, bytes);
                    grant.release(freed);
                    used -= freed;
                }
                default -> {
                    if (random.nextInt(20) == 0) {
                        grant.releaseAll();
                        assertThat(space.available()).isEqualTo(LIMIT - used);
                    }
                }
            }
            assertThat(space.available()).isLessThanOrEqualTo(LIMIT - used);
        }
        grant.releaseAll();
        assertThat(space.available()).isEqualTo(LIMIT - used);
    }

    @Test
    void shouldHoldNoMoreThanAFewPortions() {
        assertThat(grant.acquire(500_000)).isTrue();
        grant.release(500_000);
        assertThat(space.available()).isGreaterThanOrEqualTo(LIMIT - (64 << 10));
    }
}
