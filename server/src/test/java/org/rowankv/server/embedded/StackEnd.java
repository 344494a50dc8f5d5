package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;

/** A thread that recurses until its small stack is exhausted, repeatedly, and acts near the end. */
final class StackEnd {
    private static final int STACK_BYTES = 256 << 10;
    private static final int FRAMES_TO_TRY = 200;

    private final Thread thread;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private StackEnd(int times, Runnable operation, Random random) {
        this.thread = new Thread(
                null,
                () -> {
                    for (int i = 0; i < times; i++) {
                        descend(operation, random, new int[] {FRAMES_TO_TRY});
                    }
                },
                "recursing",
                STACK_BYTES);
        thread.setUncaughtExceptionHandler((dead, thrown) -> failure.set(thrown));
    }

    /** Recurses to the end of the stack; on return, in some of the last frames, runs the operation. */
    @SuppressWarnings("InfiniteRecursion") // it exhausts the stack
    private static void descend(Runnable operation, Random random, int[] framesToTry) {
        try {
            descend(operation, random, framesToTry);
        } catch (StackOverflowError e) {
            // The frame above was the last that fitted.
        }
        if (framesToTry[0] > 0) {
            framesToTry[0]--;
            if (random.nextInt(3) == 0) {
                operation.run();
            }
        }
    }

    /**
     * Runs it that often on a separate thread, and something else on this one until that has ended, which must not
     * fail.
     */
    static void meet(int times, Runnable operation, Random random, Runnable meanwhile) {
        final StackEnd end = new StackEnd(times, operation, random);
        end.thread.start();
        while (end.thread.isAlive()) {
            meanwhile.run();
        }
        assertThat(end.failure.get()).isNull();
    }
}
