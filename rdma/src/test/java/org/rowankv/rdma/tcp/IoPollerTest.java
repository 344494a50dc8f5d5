package org.rowankv.rdma.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.SelectorPoller;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.landing.Descriptors;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.Loopback;

/** A worker's I/O: one wait for its sockets, queue pairs and wake-ups; and its end. */
final class IoPollerTest {
    private static final int SEGMENT = 4096;
    private static final int WAKE_UPS = 20_000;

    private final TcpIoPoller io = new TcpIoPoller();

    private static void post(QueuePair pair, long id) {
        final int status = pair.send(id, new Entries().make(id, 100), 0, 100, 0);
        assertThat(status).isEqualTo(PostStatus.POSTED);
        pair.poll((context, landed) -> {}, 0);
    }

    private QueuePair open(TestServer from) {
        final CompletableFuture<QueuePair> opening = from.endpoint().connectAsync(1, 1, 1, io);
        while (!opening.isDone()) {
            io.await(Long.MAX_VALUE);
        }
        return opening.join();
    }

    private static void onAnotherThread(Runnable work) throws InterruptedException {
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        final Thread thread = new Thread(work, "another");
        thread.setUncaughtExceptionHandler((unused, why) -> failure.set(why));
        thread.start();
        thread.join();
        assertThat(failure.get()).isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldLoseNoWakeUp(boolean tcp) throws InterruptedException {
        final IoPoller woken = tcp ? io : new SelectorPoller();
        final AtomicInteger given = new AtomicInteger();
        final AtomicInteger taken = new AtomicInteger();
        final Thread owner = woken.newThread("owner", () -> {
            while (taken.get() < WAKE_UPS) {
                woken.poll();
                if (given.get() == taken.get()) {
                    woken.await(Long.MAX_VALUE);
                } else {
                    taken.set(given.get());
                }
            }
            woken.close();
        });
        owner.start();
        for (int i = 1; i <= WAKE_UPS; i++) {
            given.set(i);
            woken.wakeUp();
            while (taken.get() < i) {
                Thread.onSpinWait();
            }
        }
        owner.join();
    }

    @Test
    void shouldWaitForSocketsAndQueuePairsAtOnce() throws IOException {
        try (LandingFabric fabric = Loopback.fabric()) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            receiver.postAll();
            io.own();
            assertThat(io.carriesPairs()).isFalse();
            final QueuePair pair = open(sender);
            assertThat(io.carriesPairs()).isTrue();
            final Pipe pipe = Pipe.open();
            pipe.source().configureBlocking(false);
            final ByteBuffer read = ByteBuffer.allocate(8);
            final SelectionKey key = io.watch(pipe.source(), SelectionKey.OP_READ, ready -> {
                try {
                    pipe.source().read(read);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            final List<Integer> statuses = new ArrayList<>();
            for (int i = 1; i <= 4; i++) {
                post(pair, i);
                while (statuses.size() < i) {
                    io.await(Long.MAX_VALUE);
                    pair.poll((context, status) -> statuses.add(status), 10);
                }
                pipe.sink().write(ByteBuffer.wrap(new byte[] {(byte) i}));
                while (read.position() < i) {
                    io.await(Long.MAX_VALUE);
                }
            }
            assertThat(statuses).containsOnly(CompletionStatus.LANDED).hasSize(4);
            key.cancel();
            pipe.source().close();
            pipe.sink().close();
            pair.close();
            io.close();
        }
    }

    /** The posts of another thread are sent first, although the owner could write at once and the other thread could not. */
    @Test
    void shouldKeepTheOrderOfOwnersThatChange() throws InterruptedException {
        try (LandingFabric fabric = Loopback.fabric()) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            receiver.postAll();
            io.own();
            final QueuePair pair = open(sender);
            final List<Integer> statuses = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                final long id = 10L * i;
                post(pair, id + 1);
                onAnotherThread(() -> post(pair, id + 2));
                post(pair, id + 3);
                onAnotherThread(() -> post(pair, id + 4));
                while (statuses.size() < 4 * i + 4) {
                    io.await(Long.MAX_VALUE);
                    pair.poll((context, status) -> statuses.add(status), 10);
                }
            }
            assertThat(statuses).containsOnly(CompletionStatus.LANDED);
            pair.close();
            io.close();
        }
    }

    @Test
    void shouldWriteForOthersWhileItWaits() throws InterruptedException {
        try (LandingFabric fabric = Loopback.fabric()) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            receiver.postAll();
            final AtomicInteger ending = new AtomicInteger();
            final Thread owner = io.newThread("owner", () -> {
                while (ending.get() == 0) {
                    io.await(Long.MAX_VALUE);
                    io.poll();
                }
                io.close();
            });
            // It began before any thread polls.
            final CompletableFuture<QueuePair> opening = sender.endpoint().connectAsync(1, 1, 1, io);
            owner.start();
            final QueuePair pair = opening.join();
            final List<Integer> statuses = new ArrayList<>();
            for (int i = 1; i <= 200; i++) {
                assertThat(pair.send(i, new Entries().make(i, 40), 0, 40, 0)).isEqualTo(PostStatus.POSTED);
                if (i % 20 == 0) {
                    while (statuses.size() < i) {
                        pair.poll((context, status) -> statuses.add(status), 10);
                    }
                }
            }
            assertThat(statuses).containsOnly(CompletionStatus.LANDED);
            pair.close();
            ending.set(1);
            io.wakeUp();
            owner.join();
        }
    }

    /** A timer ends the wait: there is no response to the hello and no wake-up. */
    @Test
    void shouldGiveUpAHandshakeWhileItWaits() throws IOException {
        try (ServerSocket silent = new ServerSocket()) {
            silent.bind(Loopback.ANY_PORT);
            final AtomicReference<InetSocketAddress> there =
                    new AtomicReference<>((InetSocketAddress) silent.getLocalSocketAddress());
            try (LandingFabric fabric = TcpTransport.open(Loopback.settings(there, with -> {
                with.connectTimeoutMs = 100;
                with.retryMs = 0;
            }))) {
                final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
                io.own();
                assertThatThrownBy(() -> open(sender))
                        .isInstanceOf(CompletionException.class)
                        .satisfies(e -> assertThat(((FabricException) e.getCause()).reason())
                                .isEqualTo(Reason.UNKNOWN_PEER));
                io.close();
            }
        }
    }

    private static void openAndEnd(TestServer sender, TestServer receiver, boolean fenced) {
        final TcpIoPoller ending = new TcpIoPoller();
        final AtomicReference<QueuePair> opened = new AtomicReference<>();
        final Thread owner = ending.newThread("owner", () -> {
            final CompletableFuture<QueuePair> opening = sender.endpoint().connectAsync(1, 1, 1, ending);
            while (!opening.isDone()) {
                ending.await(Long.MAX_VALUE);
            }
            opened.set(opening.join());
            post(opening.join(), 1);
            if (fenced) {
                receiver.queue().fence(2);
            }
            // One more queue pair has only begun to connect.
            final var unused = sender.endpoint().connectAsync(1, 1, 1, ending);
            ending.close();
            ending.close();
        });
        owner.start();
        try {
            owner.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        final QueuePair pair = opened.get();
        assertThat(pair.isFenced()).isTrue();
        final List<Integer> statuses = new ArrayList<>();
        pair.poll((context, status) -> statuses.add(status), 10);
        assertThat(statuses).hasSize(1);
        pair.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndItsQueuePairsWithIt(boolean fenced) {
        try (LandingFabric fabric = Loopback.fabric(with -> with.retryMs = 0)) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            receiver.postAll();
            openAndEnd(sender, receiver, fenced);
            awaitNoConnection(fabric);
            final long before = Descriptors.open();
            for (int i = 0; i < 5; i++) {
                openAndEnd(sender, receiver, fenced);
            }
            awaitNoConnection(fabric);
            Descriptors.awaitAtMost(before);
        } finally {
            io.close();
        }
    }

    private static void awaitNoConnection(LandingFabric fabric) {
        while (fabric.acceptedConnections() > 0) {
            Thread.onSpinWait();
        }
    }

    /** As when a server completes what is in flight after its client port was closed. */
    @Test
    void shouldLeaveQueuePairsToTheFabricAfterItsEnd() {
        try (LandingFabric fabric = Loopback.fabric(with -> with.retryMs = 0)) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            receiver.postAll();
            final CompletableFuture<QueuePair> before = sender.endpoint().connectAsync(1, 1, 1, io);
            io.close(); // it was never polled
            assertThatThrownBy(before::join).hasCauseInstanceOf(FabricException.class);
            final QueuePair pair = sender.endpoint().connectAsync(1, 1, 1, io).join();
            post(pair, 1);
            final List<Integer> statuses = new ArrayList<>();
            while (statuses.isEmpty()) {
                pair.poll((context, status) -> statuses.add(status), 10);
            }
            assertThat(statuses).containsExactly(CompletionStatus.LANDED);
        }
    }
}
