package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;

/** Links between servers are cut repeatedly while callers write. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class FenceTest {
    private static final int CALLERS = 4;

    @TempDir
    private Path dir;

    @ParameterizedTest
    @ValueSource(ints = {500, 6000})
    void shouldLoseNothingWhileLinksAreCut(int maxLength) throws Exception {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = 3;
            with.replicas = 3;
            with.dir = dir;
            with.shards = 6;
            with.workers = 3;
            with.capacityBytes = 4 << 20;
            with.maxMessage = 1024;
        });
        final List<PossibleValues> values = new ArrayList<>();
        for (int t = 0; t < CALLERS; t++) {
            values.add(new PossibleValues("t" + t + "-", 30, maxLength));
        }
        for (int round = 0; round < 2; round++) {
            final EmbeddedCluster cluster = EmbeddedCluster.open(settings);
            try (RowanClient client = Stores.client(cluster, round)) {
                final int cache = Stores.cache(client);
                values.forEach(of -> of.requirePossible(client, cache));
                writeAndCut(cluster, client, cache, values, round);
                values.forEach(of -> of.requirePossible(client, cache));
                values.forEach(of -> assertThat(of.errors).isZero());
            }
            assertThat(cluster.statistics().stream()
                            .mapToLong(s -> s.reconnects())
                            .sum())
                    .isPositive();
            Stores.requireHealth(cluster);
            Stores.requireExactSpace(cluster);
            cluster.close();
        }
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings)) {
            final RowanClient client = Stores.client(cluster, 99);
            final int cache = Stores.cache(client);
            values.forEach(of -> of.requirePossible(client, cache));
            Stores.requireHealth(cluster);
        }
    }

    private static void writeAndCut(
            EmbeddedCluster cluster, RowanClient client, int cache, List<PossibleValues> values, int round)
            throws InterruptedException {
        final AtomicInteger operations = new AtomicInteger();
        final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        final List<Thread> callers = new ArrayList<>();
        for (int t = 0; t < CALLERS; t++) {
            final PossibleValues of = values.get(t);
            final Random random = new Random(t + 31L * round);
            final Thread caller = new Thread(() -> {
                for (int i = 0; i < 4000; i++) {
                    of.operate(client, cache, random);
                    operations.incrementAndGet();
                }
            });
            caller.setUncaughtExceptionHandler((thread, failure) -> failures.add(failure));
            caller.start();
            callers.add(caller);
        }
        final Random random = new Random(round);
        int before = 0;
        while (callers.stream().anyMatch(Thread::isAlive)) {
            if (operations.get() > before + 3) {
                before = operations.get();
                final int from = random.nextInt(3);
                cluster.fenceLink(from, (from + 1 + random.nextInt(2)) % 3);
            } else {
                Thread.onSpinWait();
            }
        }
        for (Thread caller : callers) {
            caller.join();
        }
        assertThat(failures).isEmpty();
    }
}
