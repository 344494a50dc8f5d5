package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.resync.CopyProgress;
import org.rowankv.server.resync.CopyProgress.Phase;

/** A join at its named points: other servers act there, or a process ends. */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class JoinMomentsTest {
    private static final int JOINER = 2;
    private static final int OBJECTS = 60;
    private static final long FAST = 1L << 30;

    private static final class Crash extends Error {
        private static final long serialVersionUID = 1;
    }

    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private final OneThread agents = new OneThread(clock, 1);
    private final Map<String, byte[]> model = new TreeMap<>();

    @AfterEach
    void leave() {
        Chaos.reset();
    }

    private RunningServers opened() {
        return new RunningServers(agents, clock, FAST);
    }

    private void write(RunningServers servers, String prefix) {
        for (int i = 0; i < OBJECTS; i++) {
            put(servers, prefix + i, i % 10 == 0 ? 3000 : 100 + i);
        }
    }

    private void put(RunningServers servers, String key, int length) {
        final byte[] value = Stores.value(key, length, length);
        servers.requireOk(RunningServers.put(new Request(), key, value));
        model.put(key, value);
    }

    private void requireModel(RunningServers servers) {
        model.forEach((key, value) -> assertThat(servers.get(key)).as(key).isEqualTo(value));
    }

    private void requireModelAtTheJoinerAlone(RunningServers servers) {
        for (int other = 0; other < JOINER; other++) {
            if (servers.isAlive(other)) {
                servers.kill(other);
                assertThat(servers.adopt(servers.excluding(other, JOINER))).isTrue();
            }
        }
        requireModel(servers);
    }

    /** R32: acknowledged by the backups of its time, it becomes visible after the traversal would have passed. */
    @Test
    void shouldNotMissAWriteThatBecomesVisibleDuringTheCopy() throws InterruptedException {
        try (RunningServers servers = new RunningServers(ThreadScheduling.INSTANCE, SystemClock.INSTANCE, FAST)) {
            write(servers, "before");
            final CountDownLatch acknowledged = new CountDownLatch(1);
            final CountDownLatch visible = new CountDownLatch(1);
            final Thread writer = new Thread(() -> put(servers, "underway", 100), "held");
            Chaos.install(point -> {
                if (point.equals("request.before-index")
                        && Thread.currentThread().equals(writer)) {
                    acknowledged.countDown();
                    await(visible);
                }
            });
            writer.start();
            acknowledged.await();

            assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
            while (!servers.isReported(JOINER, RunningServers.SHARDS - 1)) {
                servers.pause();
            }
            write(servers, "after");
            final int shard = RunningServers.shardOf("underway");
            final List<Phase> phases =
                    servers.server(servers.configuration().shard(shard).primary()).copies().progress().stream()
                            .filter(copy -> copy.shard() == shard)
                            .map(CopyProgress::phase)
                            .toList();
            visible.countDown();
            writer.join();
            assertThat(phases).containsExactly(Phase.AWAITING_VERSIONS);
            servers.awaitReported(JOINER);
            assertThat(servers.adopt(servers.joined(JOINER))).isTrue();
            servers.requireAgreement();
            requireModelAtTheJoinerAlone(servers);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** R13: read for the copy, then ended; the deletion is on all replicas before the copy lands. */
    @Test
    void shouldRememberADeletionUntilTheCopyHasLanded() {
        try (RunningServers servers = opened();
                CallerThread other = CallerThread.ofAnotherContext()) {
            put(servers, "ended", 100);
            final boolean[] done = new boolean[1];
            Chaos.install(point -> {
                if (point.equals("copy.read") && !done[0]) {
                    done[0] = true;
                    other.run(() -> servers.requireOk(RunningServers.delete(new Request(), "ended")));
                    agents.step(200);
                }
            });
            assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
            servers.awaitReported(JOINER);
            assertThat(done[0]).isTrue();
            servers.requireAgreement();
            assertThat(Stores.objects(servers.server(JOINER), RunningServers.shardOf("ended")))
                    .isEmpty();
            servers.requireExactSpace();
        }
    }

    /** A new process joins from the beginning. */
    @ParameterizedTest
    @CsvSource({"join.tenure, 1", "join.begun, 1", "join.begun, 3", "join.digested, 1", "join.digested, 3"})
    void shouldJoinAgainWhenItEndsThere(String where, int hit) {
        try (RunningServers servers = opened()) {
            write(servers, "before");
            crashAt(where, hit);
            boolean crashed = false;
            try {
                crashed = !servers.adopt(servers.adding(JOINER));
                while (!crashed && !servers.isReported(JOINER)) {
                    crashed = servers.server(JOINER).isStopped();
                    servers.pause();
                }
            } catch (Crash e) {
                crashed = true;
            }
            assertThat(crashed).isTrue();
            Chaos.reset();
            servers.kill(JOINER);
            assertThat(servers.adopt(servers.excluding(JOINER, 0))).isTrue();
            write(servers, "between");
            servers.restart(JOINER);
            joinWhole(servers);
        }
    }

    /** Another server is the primary then, and copies from the beginning. */
    @ParameterizedTest
    @CsvSource({"1", "20", "100"})
    void shouldReceiveTheCopyOfTheNextPrimaryWhenItsSourceEnds(int hit) {
        try (RunningServers servers = opened()) {
            write(servers, "before");
            write(servers, "more");
            crashAt("copy.read", hit);
            assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
            int ended = -1;
            while (ended < 0) {
                servers.pause();
                ended = servers.server(0).isStopped() ? 0 : servers.server(1).isStopped() ? 1 : -1;
            }
            Chaos.reset();
            servers.kill(ended);
            assertThat(servers.adopt(servers.excluding(ended, 1 - ended))).isTrue();
            write(servers, "between");
            servers.awaitReported(JOINER);
            servers.requireAgreement();
            assertThat(servers.adopt(servers.joined(JOINER))).isTrue();
            requireModelAtTheJoinerAlone(servers);
        }
    }

    private void joinWhole(RunningServers servers) {
        assertThat(servers.adopt(servers.adding(JOINER))).isTrue();
        servers.awaitReported(JOINER);
        write(servers, "after");
        servers.requireAgreement();
        servers.requireExactSpace();
        assertThat(servers.adopt(servers.joined(JOINER))).isTrue();
        requireModelAtTheJoinerAlone(servers);
    }

    private static void crashAt(String where, int hit) {
        final int[] hits = new int[1];
        Chaos.install(point -> {
            if (point.equals(where) && ++hits[0] == hit) {
                throw new Crash();
            }
        });
    }
}
