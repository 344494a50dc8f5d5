package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.Segments;

/** A server process that met a damaged landing: its replica is incomplete, and no start counts it as complete. */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class DamagedLandingTest {
    private static final String MARK = "a value that is damaged as soon as it has landed: ";

    @TempDir
    private Path dir;

    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    @AfterEach
    void leave() {
        released.countDown();
        Chaos.reset();
    }

    /** Flips a bit of each such value landed at that server, before its digest processes it. */
    private static void damageAt(Server backup) {
        Chaos.install(name -> {
            if (name.equals("digest.before-frame")
                    && Thread.currentThread().getName().equals("rowan-server-" + backup.serverId())) {
                final boolean unused = flip(backup.segments());
            }
        });
    }

    /** As {@link #damageAt}, and its digest blocks there once until it is released. */
    private void damageAndHoldAt(Server backup) {
        Chaos.install(name -> {
            if (name.equals("digest.before-frame")
                    && Thread.currentThread().getName().equals("rowan-server-" + backup.serverId())
                    && flip(backup.segments())) {
                held.countDown();
                try {
                    if (!released.await(60, TimeUnit.SECONDS)) {
                        throw new AssertionError("it was never released");
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        });
    }

    /** Whether there was such a value. */
    private static boolean flip(Segments segments) {
        boolean found = false;
        final ByteBuffer mark = ByteBuffer.wrap(MARK.getBytes(StandardCharsets.US_ASCII));
        for (int segment = 0; segment < segments.count(); segment++) {
            if (segments.generation(segment) == 0 || segments.owner(segment) != SegmentOwner.BACKUP) {
                continue;
            }
            final long from = segments.area().addressOf(segment);
            final ByteBuffer buffer = segments.region().buffer(from);
            final int start = segments.region().offset(from);
            for (int at = start; at + mark.limit() <= start + segments.length(); at++) {
                if (buffer.get(at) == mark.get(0)
                        && buffer.slice(at, mark.limit()).mismatch(mark) < 0) {
                    buffer.put(at, (byte) (buffer.get(at) ^ 4));
                    found = true;
                }
            }
        }
        return found;
    }

    private static void awaitFailure(ClusterServer server, String... parts) {
        await().atMost(Duration.ofSeconds(60)).until(() -> server.phase() == StartPhase.FAILED);
        assertThat(server.failure()).hasMessageContainingAll(parts);
    }

    @Test
    void shouldRefuseItsAreaUntilItIsAccepted() throws Exception {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 8 << 20).startAll()) {
            final RowanClient client = bed.client(1);
            final ClusterBed.Member second = bed.members.get(1);
            final Server backup = second.server.server();
            damageAt(backup);
            // Its operations wait while the server is down, and end once it is back.
            final CompletableFuture<Void> puts = CompletableFuture.runAsync(() -> {
                for (int i = 0; i < 1000 && second.server != null && second.server.failure() == null; i++) {
                    client.put(
                            1, ("k" + i).getBytes(StandardCharsets.US_ASCII), MARK.getBytes(StandardCharsets.US_ASCII));
                }
            });
            awaitFailure(second.server, "DamagedLandingError");
            Chaos.reset();
            second.stop();
            second.errors = new ErrorLog(SystemClock.INSTANCE); // another process
            for (int start = 0; start < 2; start++) {
                second.start();
                awaitFailure(second.server, "area-1.rowan lacks an entry", "--accept-unclean");
                assertThat(second.server.hasStoppedItself()).isFalse();
                second.stop();
            }
            second.start(bed.settings(
                    dir.resolve("b"), "b", bed.shape(), "", second.proxy.port(), with -> with.acceptUnclean = true));
            bed.awaitServing();
            puts.get(60, TimeUnit.SECONDS);
            // Once is enough.
            second.stop();
            second.start();
            bed.awaitServing();
        }
    }

    @Test
    void shouldNotEndAsIfAllWereWellWhenItMeetsDamageWhileItDrains() throws Exception {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 8 << 20).startAll()) {
            final RowanClient client = bed.client(1);
            final ClusterBed.Member second = bed.members.get(1);
            final ClusterServer server = second.server;
            final Server backup = server.server();
            damageAndHoldAt(backup);
            for (int i = 0; held.getCount() > 0 && i < 100; i++) {
                client.put(1, ("k" + i).getBytes(StandardCharsets.US_ASCII), MARK.getBytes(StandardCharsets.US_ASCII));
            }
            assertThat(held.await(60, TimeUnit.SECONDS)).isTrue();
            final CompletableFuture<Void> closing = CompletableFuture.runAsync(server::close);
            await().atMost(Duration.ofSeconds(30)).until(() -> !backup.isServing());
            released.countDown();
            closing.get(60, TimeUnit.SECONDS);
            assertThat(server.phase()).isEqualTo(StartPhase.FAILED);
            assertThat(server.hasStoppedItself()).isTrue();
            assertThat(server.failure()).hasMessageContaining("DamagedLandingError");
        }
    }
}
