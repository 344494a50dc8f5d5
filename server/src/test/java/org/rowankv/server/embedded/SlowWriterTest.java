package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.TestScale;

/** A writer pauses in the middle of a write, for long, and others continue: all of them complete. */
@Tag("chaos")
// Without space they would wait for ever, and so would the close of the store: the timeout needs a separate thread.
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class SlowWriterTest {
    private static final int WRITERS = 3;

    @AfterEach
    void reset() {
        Chaos.reset();
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 3_000, 9_000})
    void shouldLeaveRoomForWhoIsBehind(int length) {
        final CountDownLatch stands = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);
        final Thread slow;
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
                    with.servers = 2;
                    with.replicas = 2;
                    with.shards = 2;
                    with.workers = WRITERS + 1;
                    with.capacityBytes = 4 << 20;
                    with.segmentBytes = 64 << 10;
                    with.maxMessage = 4096;
                }));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            slow = new Thread(() -> {
                try (RowanClient own = Stores.client(cluster, 1)) {
                    own.put(cache, bytes("slow"), value("slow", 1, 9_000));
                }
            });
            Chaos.install(point -> {
                if (point.equals("request.after-tlog") && Thread.currentThread() == slow) {
                    stands.countDown();
                    awaitQuietly(released);
                }
            });
            slow.start();
            awaitQuietly(stands);
            final AtomicLong written = new AtomicLong();
            final long enough = TestScale.of(2, 8) * (4L << 20) / length;
            final List<Thread> writers = new ArrayList<>();
            for (int w = 0; w < WRITERS; w++) {
                final int number = w;
                final Thread writer = new Thread(() -> write(cluster, cache, number, length, enough, written));
                writers.add(writer);
                writer.start();
            }
            awaitNoProgress(written);
            assertThat(written).as("they wait for the paused one").hasValueLessThan(WRITERS * enough);
            released.countDown();
            writers.forEach(SlowWriterTest::join);
            join(slow);
            assertThat(written).hasValue(WRITERS * enough);
            assertThat(client.get(cache, bytes("slow"))).hasSize(9_000);
            Stores.requireAgreement(cluster);
        }
    }

    private static void write(
            EmbeddedCluster cluster, int cache, int number, int length, long enough, AtomicLong written) {
        try (RowanClient own = Stores.client(cluster, 10 + number)) {
            for (int i = 0; i < enough; i++) {
                final String key = "w" + number + "k" + i % 10;
                own.put(cache, bytes(key), value(key, i, length));
                written.incrementAndGet();
            }
        }
    }

    /** Waits until several checks find no progress. */
    private static void awaitNoProgress(AtomicLong written) {
        final long[] last = {-1, 0};
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(100))
                .until(() -> {
                    final long now = written.get();
                    last[1] = now == last[0] ? last[1] + 1 : 0;
                    last[0] = now;
                    return last[1] >= 5;
                });
    }

    private static void awaitQuietly(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
