package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.TestScale;

/** Callers that recurse until their stack is exhausted, and call the store near its end. */
@Tag("jvm")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class CallerStackTest {
    @TempDir
    private Path dir;

    private final Consumer<EmbeddedSettings.Builder> settings = with -> {
        with.servers = 3;
        with.replicas = 3;
        with.shards = 6;
        with.workers = 3;
        with.capacityBytes = 4 << 20;
    };

    @Test
    void shouldLeaveNothingHalfDoneWhenTheStackEnds() throws Exception {
        final PossibleValues values = new PossibleValues("s", 40, 300);
        final PossibleValues others = new PossibleValues("o", 40, 300);
        for (int round = 0; round < TestScale.of(1, 3); round++) {
            try (EmbeddedCluster cluster =
                    EmbeddedCluster.open(EmbeddedSettings.of(settings.andThen(with -> with.dir = dir)))) {
                final RowanClient client = Stores.client(cluster, round);
                final int cache = Stores.cache(client);
                values.requirePossible(client, cache);
                others.requirePossible(client, cache);
                final Random random = new Random(round);
                // A class whose initialization meets the end of a stack is unusable in the whole JVM.
                for (int i = 0; i < 200; i++) {
                    values.operate(client, cache, random);
                }
                final Random otherRandom = new Random(round + 100);
                StackEnd.meet(
                        60,
                        () -> values.operate(client, cache, random),
                        random,
                        () -> others.operate(client, cache, otherRandom));
                values.requirePossible(client, cache);
                others.requirePossible(client, cache);
            }
        }
        assertThat(values.errors).isPositive();
        assertThat(values.done).isPositive();
        assertThat(others.errors).isZero();
        try (EmbeddedCluster cluster =
                EmbeddedCluster.open(EmbeddedSettings.of(settings.andThen(with -> with.dir = dir)))) {
            final RowanClient client = Stores.client(cluster, 99);
            final int cache = Stores.cache(client);
            values.requirePossible(client, cache);
            others.requirePossible(client, cache);
            Stores.requireHealth(cluster);
        }
    }
}
