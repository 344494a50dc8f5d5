package org.rowankv.server.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An index grows while others read it, and its count of moves passes the ends of 31 and 32 bits. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class IndexMovesTest {
    private static final int OWNER = 1;
    private static final int KEYS = 4_000;
    private static final int FIXED = 100;
    /** A reader that took that long has searched many times. */
    private static final long LOOKED_NS = 10_000_000;

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

    /** It begins and ends while items move: a missing item may be on its way from one bucket to another. */
    @Test
    void shouldNotBelieveThatNothingIsThereWhileItemsMove() throws InterruptedException {
        final IndexedLog log = new IndexedLog(new long[] {1L << 62, 3L << 62}, 1);
        final ShardIndex index = new ShardIndex(log.region(), 1); // odd, as during a split
        put(log, index, 0, 1);
        assertThat(log.find(index, 0)).isEqualTo(log.address(0, 0));
        final AtomicLong found = new AtomicLong();
        final Thread reader = new Thread(() -> found.set(log.find(index, 1)));
        reader.start();
        final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        while (reader.isAlive() && threads.getThreadCpuTime(reader.getId()) < LOOKED_NS) {
            Thread.onSpinWait();
        }

        put(log, index, 1, 2);
        reader.join();
        assertThat(found).hasValue(log.address(1, 0));
    }

    private static void put(IndexedLog log, ShardIndex index, int from, int to) {
        for (int key = from; key < to; key++) {
            index.lock(OWNER);
            index.put(log.position(key), log.address(key, 0));
            index.unlock();
        }
    }
}
