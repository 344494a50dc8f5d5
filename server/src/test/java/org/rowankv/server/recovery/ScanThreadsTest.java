package org.rowankv.server.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ScanThreadsTest {
    private static final List<Integer> SEGMENTS =
            IntStream.range(0, 1000).boxed().toList();

    private static List<IntConsumer> times(int count, IntConsumer reader) {
        return Collections.nCopies(count, reader);
    }

    @Test
    void shouldReadEverySegmentOnce() {
        final List<Integer> read = Collections.synchronizedList(new ArrayList<>());
        new ScanThreads("scan", SEGMENTS, times(4, read::add)).readAll();
        assertThat(read).containsExactlyInAnyOrderElementsOf(SEGMENTS);
    }

    @Test
    void shouldReadWithAllThreadsAtTheSameTime() {
        final CountDownLatch met = new CountDownLatch(4);
        new ScanThreads("scan", SEGMENTS.subList(0, 4), times(4, segment -> {
                    met.countDown();
                    awaitAll(met);
                }))
                .readAll();
        assertThat(met.getCount()).isZero();
    }

    private static void awaitAll(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldReadInOrderOnTheCallersThreadWhenItIsTheOnlyOne() {
        final List<Integer> read = new ArrayList<>();
        final Thread caller = Thread.currentThread();
        new ScanThreads("scan", SEGMENTS, times(1, segment -> {
                    assertThat(Thread.currentThread()).isSameAs(caller);
                    read.add(segment);
                }))
                .readAll();
        assertThat(read).isEqualTo(SEGMENTS);
    }

    @Test
    void shouldFailWhenAnyReaderFailsAndLeaveNoThread() {
        final AtomicInteger reading = new AtomicInteger();
        final IntConsumer reader = segment -> {
            reading.incrementAndGet();
            try {
                if (segment == 500) {
                    throw new IllegalStateException("segment 500 cannot be read");
                }
            } finally {
                reading.decrementAndGet();
            }
        };
        assertThatThrownBy(() -> new ScanThreads("scan-that-fails", SEGMENTS, times(4, reader)).readAll())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("segment 500 cannot be read");
        assertThat(reading).hasValue(0);
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().startsWith("scan-that-fails"));
    }

    @Test
    void shouldKeepTheCallersInterrupt() {
        Thread.currentThread().interrupt();
        final AtomicInteger read = new AtomicInteger();
        new ScanThreads("scan", SEGMENTS, times(3, segment -> read.incrementAndGet())).readAll();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(read).hasValue(SEGMENTS.size());
    }
}
