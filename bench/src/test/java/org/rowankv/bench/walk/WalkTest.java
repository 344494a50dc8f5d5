package org.rowankv.bench.walk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class WalkTest {
    private final AtomicInteger calls = new AtomicInteger();

    @Test
    void shouldCountWhatMoreThanHalfOfTheCallsEnterOnceEach() {
        final List<Walk.Visit> walked = Walk.of(
                () -> {
                    visit("first");
                    visit("second");
                    visit("first");
                    if (calls.incrementAndGet() <= 2) {
                        visit("in half of them");
                    }
                },
                4,
                thread -> true);

        assertThat(walked).containsExactly(leaf("first"), leaf("second"));
    }

    @Test
    void shouldLeaveOutOtherThreadsAndWhatComesBetweenCalls() {
        visit("before");
        final String own = Thread.currentThread().getName();

        final List<Walk.Visit> walked = Walk.of(
                () -> {
                    final Thread other = new Thread(() -> visit("elsewhere"), "other");
                    other.start();
                    try {
                        other.join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    visit("here");
                },
                1,
                own::equals);

        assertThat(walked).containsExactly(leaf("here"));
    }

    @Test
    void shouldCallStationWhatCallsAnotherClassInMoreThanHalfOfTheCalls() {
        Walk.entered("loop that began before");
        final List<Walk.Visit> walked = Walk.of(
                () -> {
                    Walk.entered("station");
                    visit("leaf");
                    Walk.entered("calls only itself");
                    visit("calls only itself");
                    Walk.left();
                    Walk.left();
                    Walk.entered("station in half of them");
                    if (calls.incrementAndGet() <= 2) {
                        visit("leaf");
                    }
                    Walk.left();
                },
                4,
                thread -> true);
        Walk.left();

        assertThat(walked)
                .containsExactly(
                        new Walk.Visit("station", true),
                        leaf("leaf"),
                        leaf("calls only itself"),
                        leaf("station in half of them"));
    }

    private static void visit(String type) {
        Walk.entered(type);
        Walk.left();
    }

    private static Walk.Visit leaf(String type) {
        return new Walk.Visit(type, false);
    }
}
