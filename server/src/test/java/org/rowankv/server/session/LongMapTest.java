package org.rowankv.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class LongMapTest {
    /** Few keys, so that most of them collide, and removals close gaps across the end of the table. */
    @Test
    void shouldAgreeWithAMap() {
        for (int seed = 0; seed < 200; seed++) {
            final Random random = new Random(seed);
            final LongMap<Integer> map = new LongMap<>();
            final Map<Long, Integer> model = new HashMap<>();
            final long[] keys = random.longs(2 + random.nextInt(14)).toArray();
            for (int step = 0; step < 300; step++) {
                final long key = keys[random.nextInt(keys.length)];
                if (random.nextInt(3) == 0) {
                    assertThat(map.remove(key)).isEqualTo(model.remove(key));
                } else {
                    map.put(key, step);
                    model.put(key, step);
                }
                for (long each : keys) {
                    assertThat(map.get(each)).as("seed %d, step %d", seed, step).isEqualTo(model.get(each));
                }
                assertThat(map.size()).isEqualTo(model.size());
            }
            assertThat(map.keys())
                    .containsExactlyInAnyOrder(
                            model.keySet().stream().mapToLong(Long::longValue).toArray());
        }
    }
}
