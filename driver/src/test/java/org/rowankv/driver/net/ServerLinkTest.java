package org.rowankv.driver.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor.ClientWelcome;
import org.rowankv.runtime.SystemClock;

/** Connection attempts that outlast their callers' deadlines. */
@Timeout(120)
final class ServerLinkTest {
    private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final NetSettings SETTINGS =
            NetSettings.DEFAULT.withConnections(1, 4).withTimes(TimeUnit.SECONDS.toNanos(60), 60_000_000_000L);

    private ServerSocket listener;

    @BeforeEach
    void listen() throws IOException {
        listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        listener.setSoTimeout(60_000);
    }

    @AfterEach
    void close() throws IOException {
        listener.close();
    }

    private ServerLink link(String address) {
        return link(
                address,
                (to, isStopped) -> Handshake.connect(to, 0, SETTINGS, SystemClock.INSTANCE, isStopped, routing -> {}));
    }

    private static ServerLink link(String address, ServerLink.Connector connector) {
        return new ServerLink(address, SETTINGS, SystemClock.INSTANCE, connector);
    }

    private String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    private static long soon() {
        return SystemClock.INSTANCE.nanoTime() + SHORT_NS;
    }

    /** Reads the hello and sends the welcome. */
    private static void welcome(Socket socket) throws IOException {
        final InputStream in = socket.getInputStream();
        final byte[] hello = in.readNBytes(ClientHandshakeDescriptor.HELLO_LENGTH);
        assertThat(hello).isNotEmpty();
        socket.getOutputStream()
                .write(ClientHandshakeDescriptor.welcome(new ClientWelcome(7, 1, 0, 1 << 20, 64))
                        .array());
    }

    @Test
    void shouldGoOnConnectingBehindADeadlineOfACaller() throws IOException {
        final ServerLink link = link(address());
        for (int i = 0; i < 5; i++) {
            assertThat(link.connection(soon())).isNull();
        }
        try (Socket accepted = listener.accept()) {
            assertThat(link.lastFailure()).as("nothing has failed").isEmpty();
            welcome(accepted);
            await().atMost(60, TimeUnit.SECONDS).until(() -> link.connection(soon()) != null);
            assertThat(link.made()).isEqualTo(1);
        } finally {
            link.close();
        }
    }

    @Test
    void shouldConnectNowhereWithoutAnAddress() {
        final AtomicInteger attempts = new AtomicInteger();
        final ServerLink link = link("", (to, isStopped) -> {
            attempts.incrementAndGet();
            throw new UnknownHostException("unknown host: " + to);
        });
        assertThat(link.connection(soon())).isNull();
        assertThat(link.presentOrConnect()).isNull();
        link.close();
        assertThat(attempts).hasValue(0);
    }

    /** Resolves a name that takes long. */
    @Test
    void shouldBoundWhatACallerWaitsForAConnectorThatHangs() throws Exception {
        final CountDownLatch hangs = new CountDownLatch(1);
        final AtomicInteger attempts = new AtomicInteger();
        final ServerLink link = link(address(), (to, isStopped) -> {
            attempts.incrementAndGet();
            awaitUninterruptibly(hangs);
            throw new UnknownHostException("unknown host: " + to);
        });
        for (int i = 0; i < 3; i++) {
            assertThat(link.connection(soon())).isNull();
        }
        assertThat(link.lastFailure()).isEmpty();
        await().atMost(60, TimeUnit.SECONDS).until(() -> attempts.get() > 0); // the attempt has a thread of its own
        assertThat(attempts).as("shared by all callers").hasValue(1);
        hangs.countDown();
        await().atMost(60, TimeUnit.SECONDS).until(() -> link.lastFailure().contains("unknown host"));
        await().atMost(60, TimeUnit.SECONDS).until(() -> {
            final NetConnection unused = link.connection(soon());
            return attempts.get() > 1;
        });
        link.close();
    }

    @Test
    void shouldConnectAgainAfterAnErrorOfTheAttempt() throws Exception {
        final AtomicInteger attempts = new AtomicInteger();
        final ServerLink link = link(address(), (to, isStopped) -> {
            if (attempts.incrementAndGet() == 1) {
                throw new OutOfMemoryError("of the test");
            }
            return Handshake.connect(to, 0, SETTINGS, SystemClock.INSTANCE, isStopped, routing -> {});
        });
        assertThat(link.connection(SystemClock.INSTANCE.nanoTime() + 60_000_000_000L))
                .isNull();
        assertThat(link.lastFailure()).contains("OutOfMemoryError");
        await().atMost(60, TimeUnit.SECONDS).until(() -> {
            final NetConnection unused = link.connection(soon());
            return attempts.get() == 2;
        });
        try (Socket accepted = listener.accept()) {
            welcome(accepted);
            await().atMost(60, TimeUnit.SECONDS).until(() -> link.connection(soon()) != null);
        }
        link.close();
    }

    /** A newer configuration may have another server for the caller; the attempt goes on. */
    @Test
    void shouldNotKeepACallerWaitingForAConnectionBehindANewerConfiguration() throws Exception {
        final CountDownLatch goesOn = new CountDownLatch(1);
        final AtomicInteger attempts = new AtomicInteger();
        final ServerLink link = link(address(), (to, isStopped) -> {
            attempts.incrementAndGet();
            awaitUninterruptibly(goesOn);
            return Handshake.connect(to, 0, SETTINGS, SystemClock.INSTANCE, isStopped, routing -> {});
        });
        final Thread caller = new Thread(() -> link.connection(SystemClock.INSTANCE.nanoTime() + 60_000_000_000L));
        caller.start();
        await().atMost(60, TimeUnit.SECONDS).until(() -> attempts.get() == 1 && waits(caller));
        link.rerouted();
        caller.join(30_000);
        assertThat(caller.isAlive()).as("whether the caller waits").isFalse();
        goesOn.countDown();
        try (Socket accepted = listener.accept()) {
            welcome(accepted);
            await().atMost(60, TimeUnit.SECONDS).until(() -> link.connection(soon()) != null);
            assertThat(attempts).as("shared by all callers").hasValue(1);
        }
        link.close();
    }

    private static boolean waits(Thread thread) {
        return thread.getState() == Thread.State.TIMED_WAITING || thread.getState() == Thread.State.WAITING;
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldNotWaitForAnAttemptWhenItIsClosed() throws Exception {
        final ServerLink link = link(address());
        final Thread caller = new Thread(() -> link.connection(SystemClock.INSTANCE.nanoTime() + 30_000_000_000L));
        caller.start();
        try (Socket accepted = listener.accept()) {
            final Thread closer = new Thread(link::close);
            closer.start();
            closer.join(60_000);
            assertThat(closer.isAlive()).as("whether the close waits").isFalse();
            caller.join(60_000);
            assertThat(caller.isAlive()).as("whether the caller waits").isFalse();
            assertThat(accepted.isConnected()).isTrue();
        }
    }

    /** The attempt was nearly complete when the link closed. */
    @Test
    void shouldBreakAConnectionThatIsMadeAfterTheClose() throws Exception {
        final CountDownLatch made = new CountDownLatch(1);
        final CountDownLatch closed = new CountDownLatch(1);
        final ServerLink link = link(address(), (to, isStopped) -> {
            final NetConnection connection =
                    Handshake.connect(to, 0, SETTINGS, SystemClock.INSTANCE, () -> false, routing -> {});
            made.countDown();
            awaitUninterruptibly(closed);
            return connection;
        });
        assertThat(link.connection(soon())).isNull();
        try (Socket accepted = listener.accept()) {
            accepted.setSoTimeout(10_000);
            welcome(accepted);
            awaitUninterruptibly(made);
            link.close();
            closed.countDown();
            assertThat(accepted.getInputStream().read())
                    .as("what the server reads")
                    .isEqualTo(-1);
            assertThat(link.present()).isNull();
            assertThat(link.connection(soon())).isNull();
            assertThat(link.made()).isZero();
        }
    }
}
