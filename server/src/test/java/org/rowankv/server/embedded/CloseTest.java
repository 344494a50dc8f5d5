package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/** The end of a store: during operations, by interrupted callers, and afterwards. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class CloseTest {
    @TempDir
    private Path dir;

    private EmbeddedSettings settings(int servers, int replicas) {
        return EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.dir = dir;
            with.shards = 2 * servers;
            with.workers = 3;
            with.capacityBytes = 4 << 20;
            with.maxMessage = 1024;
        });
    }

    /** A thread may need a moment to end. */
    private static void requireNoThreadLeft() {
        await().untilAsserted(() -> assertThat(ourThreads()).isEmpty());
    }

    private static List<String> ourThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(Thread::isAlive)
                .map(Thread::getName)
                .filter(name -> name.startsWith("rowan-"))
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,1", "3,3"})
    void shouldKeepWhatWasAcknowledgedWhileItWasClosed(int servers, int replicas) throws Exception {
        final Map<String, Long> acknowledged = new ConcurrentHashMap<>();
        for (int round = 1; round <= 8; round++) {
            final EmbeddedCluster cluster = EmbeddedCluster.open(settings(servers, replicas));
            final RowanClient client = Stores.client(cluster, round);
            final int cache = Stores.cache(client);
            acknowledged.forEach((key, number) -> {
                final byte[] found = client.get(cache, bytes(key));
                assertThat(found).as(key).isNotNull();
                // Unanswered writes may have been applied.
                assertThat(numberOf(key, found)).as(key).isGreaterThanOrEqualTo(number);
            });
            final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
            final CountDownLatch busy = new CountDownLatch(400);
            final List<Thread> callers = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                final int caller = t;
                final long first = round * 1_000_000L;
                final Thread thread = new Thread(() -> {
                    for (long number = first; ; number++) {
                        final String key = "t" + caller + "-" + number % 40;
                        try {
                            client.put(cache, bytes(key), value(key, number, (int) (number % 1500)));
                        } catch (RowanException e) {
                            if (e.status() != Status.CLOSED) {
                                failures.add(e);
                            }
                            return;
                        }
                        acknowledged.put(key, number);
                        busy.countDown();
                    }
                });
                thread.start();
                callers.add(thread);
            }
            busy.await();
            cluster.close();
            for (Thread thread : callers) {
                thread.join();
            }
            assertThat(failures).isEmpty();
            assertThat(cluster.errors().distinct()).isEmpty();
            requireNoThreadLeft();
        }
    }

    @Test
    void shouldAnswerClosedForEveryOperation() {
        final EmbeddedCluster cluster = EmbeddedCluster.open(settings(3, 3));
        final RowanClient client = Stores.client(cluster);
        final int cache = Stores.cache(client);
        client.put(cache, bytes("k"), bytes("v"));
        cluster.close();
        cluster.close();
        final byte[] key = bytes("k");
        final List<Request> requests = List.of(
                new Request().get(cache, key, 0, 1),
                new Request().get(cache, key, 0, 1).accessTtl(5),
                new Request().put(cache, key, 0, 1, key, 0, 1),
                new Request().delete(cache, key, 0, 1),
                new Request().touch(cache, key, 0, 1, 1, 1),
                new Request().clear(cache, 0));
        for (Request request : requests) {
            client.execute(request);
            assertThat(request.status()).isEqualTo(Status.CLOSED);
            assertThat(request.hasResult()).isFalse();
        }
        assertThatThrownBy(() -> client.scan(cache, false).hasNext()).isInstanceOf(RowanException.class);
        assertThatThrownBy(() -> client.get(cache, key)).hasMessageContaining("closed");
        client.close();
        requireNoThreadLeft();
    }

    @Test
    void shouldServeInterruptedCallersAndLeaveThemInterrupted() {
        Thread.currentThread().interrupt();
        try {
            for (int round = 1; round <= 2; round++) {
                final EmbeddedCluster cluster = EmbeddedCluster.open(settings(3, 3));
                final RowanClient client = Stores.client(cluster, round);
                final int cache = Stores.cache(client);
                if (round == 2) {
                    assertThat(numberOf("k7", client.get(cache, bytes("k7")))).isEqualTo(1);
                }
                for (int i = 0; i < 3000; i++) {
                    client.put(cache, bytes("k" + i % 100), value("k" + i % 100, round, i % 3000));
                }
                assertThat(numberOf(
                                "k7", client.getAndRemove(cache, bytes("k7")).previousValue()))
                        .isEqualTo(round);
                client.put(cache, bytes("k7"), value("k7", 1, 10));
                assertThat(client.scan(cache, true).hasNext()).isTrue();
                cluster.awaitDigested();
                client.close();
                cluster.close();
                assertThat(Thread.currentThread().isInterrupted()).isTrue();
            }
            // Full, so that callers wait and retry.
            try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(3, 3));
                    RowanClient client = Stores.client(cluster, 3)) {
                final int cache = Stores.cache(client);
                assertThatThrownBy(() -> {
                            for (int i = 0; ; i++) {
                                client.put(cache, bytes("f" + i), value("f", i, 1000));
                            }
                        })
                        .isInstanceOf(StoreFullException.class);
                client.clear(cache);
            }
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
