package org.rowankv.bench.walk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class WalkTest {
    private final AtomicInteger calls = new AtomicInteger();

    @Test
    void shouldCountWhatMoreThanHalfOfTheCallsEnterOnceEach() {
        final List<String> walked = Walk.of(
                () -> {
                    Walk.entered("first");
                    Walk.entered("second");
                    Walk.entered("first");
                    if (calls.incrementAndGet() <= 2) {
                        Walk.entered("in half of them");
                    }
                },
                4,
                thread -> true);

        assertThat(walked).containsExactly("first", "second");
    }

    @Test
    void shouldLeaveOutOtherThreadsAndWhatComesBetweenCalls() {
        Walk.entered("before");
        final String own = Thread.currentThread().getName();

        final List<String> walked = Walk.of(
                () -> {
                    final Thread other = new Thread(() -> Walk.entered("elsewhere"), "other");
                    other.start();
                    try {
                        other.join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    Walk.entered("here");
                },
                1,
                own::equals);

        assertThat(walked).containsExactly("here");
    }
}
