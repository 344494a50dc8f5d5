package org.rowankv.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.CounterStarts;

/** The end of an epoch's versions. */
final class VersionCounterTest {
    private static final int EPOCH = 7;
    private static final int TAKERS = 3;
    private static final int TAKES = 100_000;
    /** Of a counter of an odd shard, behind the start. */
    private static final long UNTIL_THE_END = Version.MAX_COUNTER - VersionCounter.REFUSED_FROM;

    @Test
    void shouldRequestAnotherEpochLongBeforeItRefuses() {
        final VersionCounter counter = new VersionCounter(EPOCH, 0, CounterStarts.nearEnds(300));
        for (int i = 0; i < 299; i++) {
            counter.take();
        }
        assertThat(counter.needsEpoch()).isFalse();
        counter.take();
        assertThat(counter.needsEpoch()).isTrue();
        assertThat(counter.mayTake()).isTrue();
        assertThat(VersionCounter.REFUSED_FROM - VersionCounter.RENEWED_FROM).isGreaterThan(1L << 31);
    }

    @Test
    void shouldRefuseBeforeTheEndAndNeverGoPastIt() {
        final VersionCounter counter = new VersionCounter(EPOCH, 1, CounterStarts.nearEnds(300));
        for (int i = 0; i < 299; i++) {
            counter.take();
        }
        assertThat(counter.mayTake()).isTrue();
        counter.take();
        assertThat(counter.mayTake()).isFalse();
        for (long i = 0; i < UNTIL_THE_END; i++) {
            counter.take();
        }
        assertThat(counter.last()).isEqualTo(Version.of(EPOCH, Version.MAX_COUNTER));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(counter::take)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("no version is left");
        }
        counter.renew(EPOCH + 1);
        assertThat(counter.mayTake()).isTrue();
        assertThat(counter.take()).isEqualTo(Version.of(EPOCH + 1, 1));
    }

    @Test
    void shouldNotGoBackToAnEpochThatItHasHad() {
        final VersionCounter counter = new VersionCounter(EPOCH);
        assertThatThrownBy(() -> counter.renew(EPOCH)).hasMessageContaining("epoch 7");
        assertThatThrownBy(() -> counter.renew(EPOCH - 1)).hasMessageContaining("epoch 6");
        assertThat(counter.renewIfLater(EPOCH)).isFalse();
    }

    /** No work between two takes: otherwise they seldom race, and a counter that is read and then set passes. */
    @Test
    void shouldAssignNoVersionTwiceWhileTheEpochChanges() throws InterruptedException {
        final VersionCounter counter = new VersionCounter(EPOCH, 0, CounterStarts.nearEnds(300));
        final long[][] taken = new long[TAKERS][TAKES];
        final CountDownLatch started = new CountDownLatch(TAKERS);
        final List<Thread> takers = new ArrayList<>();
        for (long[] own : taken) {
            takers.add(new Thread(() -> {
                started.countDown();
                while (started.getCount() > 0) {
                    Thread.onSpinWait();
                }
                for (int n = 0; n < TAKES; n++) {
                    own[n] = counter.take();
                }
            }));
        }
        takers.forEach(Thread::start);
        for (int epoch = EPOCH + 1; epoch < EPOCH + 50; epoch++) {
            counter.renew(epoch);
        }
        for (Thread taker : takers) {
            taker.join();
        }
        assertThat(Arrays.stream(taken).flatMapToLong(Arrays::stream).distinct().count())
                .isEqualTo((long) TAKERS * TAKES);
        for (long[] own : taken) {
            assertThat(own).isSorted();
        }
    }
}
