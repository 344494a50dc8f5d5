package org.rowankv.server.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An index grows while others read it, and its count of moves passes the ends of 31 and 32 bits. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
final class IndexMovesTest {
    private static final int OWNER = 1;
    private static final int KEYS = 4_000;
    private static final int FIXED = 100;

    @ParameterizedTest
    @ValueSource(ints = {0, Integer.MAX_VALUE - 99, -100})
    void shouldFindEveryKeyWhileItemsMove(int firstMoves) throws InterruptedException {
        final Random random = new Random(3);
        final IndexedLog log = new IndexedLog(random.longs(KEYS).distinct().toArray(), 1);
        final ShardIndex index = new ShardIndex(log.region(), firstMoves);
        put(log, index, 0, FIXED);
        assertThat(log.find(index, FIXED)).isZero();
        final AtomicBoolean over = new AtomicBoolean();
        final AtomicReference<String> problem = new AtomicReference<>();
        final Thread reader = new Thread(() -> {
            for (int i = 0; !over.get() && problem.get() == null; i = (i + 1) % FIXED) {
                if (log.find(index, i) != log.address(i, 0)) {
                    problem.set("key " + i);
                }
            }
        });
        reader.start();
        put(log, index, FIXED, log.keys());
        over.set(true);
        reader.join();
        assertThat(problem.get()).isNull();
        for (int key = 0; key < log.keys(); key++) {
            assertThat(log.find(index, key)).isEqualTo(log.address(key, 0));
            final int other = (key + 1) % log.keys();
            assertThat(index.refers(log.position(key), log.address(other, 0))).isFalse();
        }
    }

    private static void put(IndexedLog log, ShardIndex index, int from, int to) {
        for (int key = from; key < to; key++) {
            index.lock(OWNER);
            index.put(log.position(key), log.address(key, 0));
            index.unlock();
        }
    }
}
