package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rowankv.server.embedded.Stores.bytes;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.Server;

/** Callers that are still in the middle of an operation when the store is closed: suspended, or on a device that hangs. */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class StuckCallerTest {
    @TempDir
    Path dir;

    private final WallClock clock = new WallClock();
    private final CountDownLatch stuck = new CountDownLatch(1);
    private final CountDownLatch goesOn = new CountDownLatch(1);

    @AfterEach
    void leave() {
        goesOn.countDown();
        Chaos.reset();
    }

    private EmbeddedSettings settings() {
        return EmbeddedSettings.of(with -> {
            with.dir = dir;
            with.servers = 1;
            with.replicas = 1;
            with.shards = 1;
            with.workers = 2;
            with.segmentBytes = 64 << 10;
            with.capacityBytes = 4 << 20;
            with.maxMessage = 1024;
            with.durability = Durability.PROCESS;
        });
    }

    private EmbeddedCluster open() {
        return EmbeddedCluster.open(settings(), clock, new SplittableRandomSource(1));
    }

    /** Returns the end of a put that stands still in its context. */
    private CompletableFuture<Void> stick(EmbeddedCluster store) throws InterruptedException {
        final int cache = store.session().catalogue().create("c", new byte[0]).id();
        final Server server = store.servers().get(0);
        final Request put = new Request().put(cache, bytes("k"), 0, 1, bytes("v"), 0, 1);
        put.placed(1, 0);
        final CompletableFuture<Void> end = new CompletableFuture<>();
        final Thread caller = new Thread(
                () -> {
                    Chaos.install(point -> {
                        if (point.equals("request.before-index")
                                && Thread.currentThread().getName().equals("stuck")) {
                            stuck.countDown();
                            awaitLatch();
                        }
                    });
                    try {
                        server.requests().call(put);
                    } catch (RuntimeException e) {
                        // It learns that the store is closed.
                    }
                    end.complete(null);
                },
                "stuck");
        caller.setDaemon(true);
        caller.start();
        stuck.await();
        return end;
    }

    private void awaitLatch() {
        try {
            goesOn.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldSayThatAnOperationDoesNotEndAndKeepTheDirectoryLocked() throws InterruptedException {
        final EmbeddedCluster store = open();
        final CompletableFuture<Void> end = stick(store);
        assertThatThrownBy(() -> HurriedClose.of(store::close, clock::hurry))
                .hasCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("an operation on server 0 has not ended")
                .hasMessageContaining("end this process");
        assertThatThrownBy(this::open)
                .as("that caller may still write")
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContaining("in this JVM");
        goesOn.countDown();
        end.join();
    }

    @Test
    void shouldCloseCleanlyOnceTheCallerGoesOn() throws InterruptedException {
        final EmbeddedCluster store = open();
        final CompletableFuture<Void> end = stick(store);
        final CompletableFuture<Void> closed = CompletableFuture.runAsync(store::close);
        goesOn.countDown();
        closed.join();
        end.join();
        open().close();
        assertThat(dir).isNotEmptyDirectory();
    }
}
