package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;

/** Callers that recurse until their stack is used up, and call the store near its end. */
final class CallerStackTest {
    @TempDir
    private Path dir;

    private final EmbeddedSettings.Builder settings = EmbeddedSettings.builder()
            .servers(3)
            .replicas(3)
            .shards(6)
            .workers(3)
            .capacityBytes(4 << 20);

    /** Recurses to the end of the stack; on the way back, at some of the last frames, calls the store. */
    @SuppressWarnings("InfiniteRecursion") // it is what ends the stack
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

    @Test
    void shouldLeaveNothingHalfDoneWhenTheStackEnds() throws Exception {
        final PossibleValues values = new PossibleValues("s", 40, 300);
        final PossibleValues others = new PossibleValues("o", 40, 300);
        for (int round = 0; round < 3; round++) {
            try (EmbeddedCluster cluster =
                    EmbeddedCluster.open(settings.dir(dir).build())) {
                final RowanClient client = Stores.client(cluster, round);
                final int cache = Stores.cache(client);
                values.requirePossible(client, cache);
                others.requirePossible(client, cache);
                final Random random = new Random(round);
                // A class whose first use meets the end of a stack is of no use any more to the whole JVM.
                for (int i = 0; i < 200; i++) {
                    values.operate(client, cache, random);
                }
                final AtomicReference<Throwable> failure = new AtomicReference<>();
                final Thread recursing = new Thread(
                        null,
                        () -> {
                            for (int i = 0; i < 60; i++) {
                                descend(() -> values.operate(client, cache, random), random, new int[] {200});
                            }
                        },
                        "recursing",
                        256 << 10);
                recursing.setUncaughtExceptionHandler((thread, thrown) -> failure.set(thrown));
                recursing.start();
                final Random otherRandom = new Random(round + 100);
                while (recursing.isAlive()) {
                    others.operate(client, cache, otherRandom);
                }
                assertThat(failure.get()).isNull();
                values.requirePossible(client, cache);
                others.requirePossible(client, cache);
            }
        }
        assertThat(values.errors).isPositive();
        assertThat(values.done).isPositive();
        assertThat(others.errors).isZero();
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings.dir(dir).build())) {
            final RowanClient client = Stores.client(cluster, 99);
            final int cache = Stores.cache(client);
            values.requirePossible(client, cache);
            others.requirePossible(client, cache);
            Stores.requireHealth(cluster);
        }
    }
}
