package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.TestScale;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.membership.PrimaryTransfer;

/** Three servers, connected by TCP, whose agents share a thread or not: the guarantees are the same. */
class ThreadingModesTest {
    private static final int CACHE = 1;
    private static final int KEYS = 200;
    private static final int LENGTH = 1000;
    private static final int ROUNDS = TestScale.of(15, 40);

    @TempDir
    Path dir;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] value(int number) {
        final byte[] value = new byte[LENGTH];
        Arrays.fill(value, (byte) number);
        return value;
    }

    private static Status put(RowanClient client, String key, byte[] value) {
        final Request request = new Request().put(CACHE, bytes(key), 0, bytes(key).length, value, 0, value.length);
        client.execute(request);
        return request.status();
    }

    private final Set<Thread> before = Thread.getAllStackTraces().keySet();

    /** Number of agent threads of these servers, by name prefix. */
    private long threads(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread))
                .filter(thread -> thread.getName().matches("rowan-" + name + "-[0-2]"))
                .count();
    }

    /** More than the servers hold: segments are committed and cleaned all the time. */
    private static void overwrite(RowanClient client, int rounds) {
        for (int round = 0; round < rounds; round++) {
            for (int key = 0; key < KEYS; key++) {
                client.put(CACHE, bytes("key" + key), value(round + key));
            }
            for (int key = 0; key < KEYS; key += 4) {
                client.remove(CACHE, bytes("key" + key));
            }
        }
    }

    private static void requireWritten(RowanClient client, int rounds) {
        for (int key = 0; key < KEYS; key++) {
            assertThat(client.get(CACHE, bytes("key" + key))).isEqualTo(key % 4 == 0 ? null : value(rounds - 1 + key));
        }
    }

    private static void fill(RowanClient client) {
        int written = 0;
        Status last = put(client, "filling" + written, value(written));
        while (last == Status.OK) {
            written++;
            last = put(client, "filling" + written, value(written));
        }
        assertThat(last).isEqualTo(Status.FULL);
        for (int key = 0; key < written; key++) {
            assertThat(client.get(CACHE, bytes("filling" + key))).isEqualTo(value(key));
            client.remove(CACHE, bytes("filling" + key));
        }
        for (int key = 0; key < written / 2; key++) {
            assertThat(put(client, "filling" + key, value(key))).isEqualTo(Status.OK);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ThreadingMode.class,
            names = {"SHARED", "DEDICATED"})
    void shouldServeThroughCleaningASwapAndARestart(ThreadingMode mode) throws InterruptedException {
        try (ClusterBed bed = new ClusterBed(dir, 3, 2, 4 << 20).with(mode).startAll()) {
            assertThat(threads("server")).isEqualTo(3);
            assertThat(threads("commit")).isEqualTo(mode == ThreadingMode.DEDICATED ? 3 : 0);
            final RowanClient client = bed.client(1);
            overwrite(client, ROUNDS);
            requireWritten(client, ROUNDS);
            for (int server = 0; server < 3; server++) {
                assertThat(bed.server(server).statistics().cleanedSegments()).isPositive();
            }
            final ClusterServersTest.Counters counters = new ClusterServersTest.Counters();
            counters.begin(bed, 3);
            counters.awaitMore(50);
            final long term = bed.configuration().term();
            new PrimaryTransfer(
                            bed.store,
                            "test",
                            new SplittableRandomSource(5),
                            SystemClock.INSTANCE,
                            ThreadScheduling.INSTANCE::park)
                    .transfer(0, -1);
            await().atMost(Duration.ofSeconds(60))
                    .until(() ->
                            bed.configuration() != null && bed.configuration().term() > term);
            counters.awaitMore(50);
            bed.members.get(1).stop();
            bed.members.get(1).start();
            bed.awaitServing();
            counters.awaitMore(50);
            counters.end(bed.client(2));
            final RowanClient again = bed.client(3);
            requireWritten(again, ROUNDS);
            fill(again);
            ClusterServersTest.awaitAgreement(bed);
            // A failed connection to a stopped server is an expected error.
            bed.members.forEach(member -> assertThat(member.errors.distinct())
                    .as(member.name)
                    .allMatch(each -> each.where().startsWith("connecting to server")));
        }
        assertThat(threads("(server|commit)")).isZero();
    }
}
