package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.membership.LostServers;
import org.rowankv.server.membership.LostServers.LiveServer;
import org.rowankv.topology.Configuration;

/** A member dies for good in the middle of a common start: the others wait for its part of it. */
@Tag("chaos")
@Timeout(value = 180, unit = TimeUnit.SECONDS)
final class DeathInStartTest {
    private static final int CACHE = 1;
    private static final int KEYS = 300;
    private static final long CAPACITY = 8 << 20;
    private static final int DYING = 2;

    @TempDir
    Path dir;

    @AfterEach
    void leave() {
        Chaos.reset();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void write(RowanClient client) {
        for (int i = 0; i < KEYS; i++) {
            client.put(CACHE, bytes("key" + i), bytes("value" + i));
        }
    }

    private static void requireValues(RowanClient client) {
        for (int i = 0; i < KEYS; i++) {
            assertThat(client.get(CACHE, bytes("key" + i))).as("key %d", i).isEqualTo(bytes("value" + i));
        }
    }

    /** Once the others wait for nothing but its report: they have no question to it that it has not answered. */
    private static void startUntilItDies(ClusterBed bed, String moment) throws InterruptedException {
        // At once: none is excluded before it stops.
        bed.stopAll();
        final ClusterBed.Member dying = bed.members.get(DYING);
        final CountDownLatch reached = new CountDownLatch(1);
        final CountDownLatch dies = new CountDownLatch(1);
        Chaos.install(point -> {
            if (point.equals(moment) && Thread.currentThread().getName().equals("rowan-cluster-" + dying.name)) {
                reached.countDown();
                awaitUninterruptibly(dies);
                dying.fabric.close();
                throw new Error("it dies");
            }
        });
        bed.members.forEach(ClusterBed.Member::start);
        reached.await();
        await().atMost(Duration.ofSeconds(30))
                .until(() -> bed.members.stream()
                        .filter(member -> member != dying)
                        .allMatch(member -> member.server.saying().contains("waiting for server " + dying.name)));
        dies.countDown();
        await().dontCatchUncaughtExceptions()
                .atMost(Duration.ofSeconds(30))
                .until(() -> dying.server.phase() == StartPhase.FAILED);
        dying.kill();
        Chaos.reset();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void awaitServing(ClusterBed bed, int members) {
        await().atMost(Duration.ofSeconds(40)).untilAsserted(() -> {
            for (ClusterBed.Member member : bed.members) {
                final ClusterServer server = member.server;
                if (server != null) {
                    assertThat(server.failure()).isNull();
                    assertThat(server.server())
                            .as(server.phase() + " " + server.saying())
                            .isNotNull();
                    final Configuration inForce = server.inForce();
                    assertThat(inForce.members()).hasSize(members);
                    assertThat(inForce.shards())
                            .allMatch(shard -> shard.joining().isEmpty());
                }
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"start.scattered", "start.term"})
    void shouldGoOnWithoutAMemberThatCanBeSpared(String moment) throws InterruptedException {
        try (ClusterBed bed =
                new ClusterBed(dir, 3, 2, CAPACITY).withStartWait(1_000).startAll()) {
            write(bed.client(1));
            startUntilItDies(bed, moment);
            awaitServing(bed, 2);
            requireValues(bed.client(2));
            bed.members.get(DYING).start();
            awaitServing(bed, 3);
            requireValues(bed.client(3));
        }
    }

    @Test
    void shouldWaitForAMemberThatCannotBeSparedUntilItIsGivenUp() throws InterruptedException {
        try (ClusterBed bed =
                new ClusterBed(dir, 3, 1, CAPACITY).withStartWait(100).startAll()) {
            startUntilItDies(bed, "start.scattered");
            final ClusterBed.Member dead = bed.members.get(DYING);
            final ClusterServer left = bed.members.get(0).server;
            await().atMost(Duration.ofSeconds(30)).until(() -> left.saying().contains("server " + dead.name));
            final LostServers lost = new LostServers(bed.store, "recover", new SplittableRandomSource(3));
            final LostServers.Plan plan = lost.plan(
                    List.of(dead.name),
                    List.of(new LiveServer("a", true, List.of()), new LiveServer("b", true, List.of())));
            assertThat(plan.losses()).isNotEmpty();
            assertThat(lost.store(plan)).isTrue();
            awaitServing(bed, 2);
        }
    }
}
