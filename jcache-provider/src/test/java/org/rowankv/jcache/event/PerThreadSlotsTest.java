package org.rowankv.jcache.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("jvm")
class PerThreadSlotsTest {
    private static final int MORE_THREADS_THAN_PLACES = 200;
    private static final int ROUNDS = 2_000;

    private final PerThreadSlots<Object> places = new PerThreadSlots<>();

    @Test
    void shouldShowAThreadItsOwnValueOnly() throws Exception {
        final ExecutorService threads = Executors.newFixedThreadPool(MORE_THREADS_THAN_PLACES);
        try {
            final CyclicBarrier allHere = new CyclicBarrier(MORE_THREADS_THAN_PLACES);
            final List<Future<Integer>> mistakes = new ArrayList<>();
            for (int i = 0; i < MORE_THREADS_THAN_PLACES; i++) {
                final int thread = i;
                mistakes.add(threads.submit(() -> {
                    allHere.await();
                    int wrong = 0;
                    for (int round = 0; round < ROUNDS; round++) {
                        final Integer value = thread * ROUNDS + round;
                        places.set(value);
                        wrong += places.get() == value ? 0 : 1;
                        if (round % 3 == 0) {
                            places.set(null);
                            wrong += places.get() == null ? 0 : 1;
                        }
                    }
                    places.set(null);
                    return wrong;
                }));
            }
            for (Future<Integer> one : mistakes) {
                assertThat(one.get()).isZero();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(places.get()).isNull();
    }

    @Test
    void shouldHoldOnToNothingThatWasTakenAway() {
        Object value = new byte[1 << 20];
        final WeakReference<Object> reference = new WeakReference<>(value);
        places.set(value);
        assertThat(places.get()).isSameAs(value);
        places.set(null);
        value = "another";
        for (int i = 0; i < 100 && reference.get() != null; i++) {
            System.gc();
        }
        assertThat(reference.get()).isNull();
        assertThat(value).isEqualTo("another");
    }
}
