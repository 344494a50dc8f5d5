package org.rowankv.daemon.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ManualClock;

/** Slow peers of the admin port cost their own connections only. Deadlines follow the test's clock. */
final class AdminPortTest {
    private static final int PATIENCE_S = 30;
    /** More than the sockets of both ends buffer. */
    private static final int LARGE = 16 << 20;

    private final ManualClock clock = new ManualClock();
    private final AdminPort port = new AdminPort(
            new InetSocketAddress("127.0.0.1", 0),
            line -> switch (line) {
                case "health" -> "serving\n";
                case "ready" -> "not ready: joining\n";
                case "large" -> "x".repeat(LARGE);
                case "fail" -> throw new IllegalStateException("planned by the test");
                default -> "unknown request\n";
            },
            clock);

    private final List<Socket> peers = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (Socket each : peers) {
            each.close();
        }
        port.close();
    }

    private Socket peer(String said) throws IOException {
        final Socket socket = new Socket();
        socket.setReceiveBufferSize(4 << 10);
        socket.connect(new InetSocketAddress("127.0.0.1", port.port()));
        socket.setSoTimeout(PATIENCE_S * 1000);
        socket.getOutputStream().write(said.getBytes(StandardCharsets.US_ASCII));
        peers.add(socket);
        return socket;
    }

    private String health() throws IOException {
        return AdminRequest.ask("127.0.0.1", port.port(), "health");
    }

    private void pass(int ms) {
        clock.advanceNs(TimeUnit.MILLISECONDS.toNanos(ms));
    }

    /** Fails with a time-out if the port leaves it open. */
    private static long bytesUntilClosed(Socket peer) throws IOException {
        final byte[] bytes = new byte[64 << 10];
        long sum = 0;
        try {
            for (int count = 0; count >= 0; count = peer.getInputStream().read(bytes)) {
                sum += count;
            }
        } catch (SocketTimeoutException e) {
            throw new AssertionError("the port leaves a slow connection open", e);
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset"); // it was closed with bytes in transit
        }
        return sum;
    }

    /** Whether the port has closed it; does not wait. */
    private static boolean isClosed(Socket peer) throws IOException {
        peer.setSoTimeout(1);
        try {
            return peer.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (SocketException e) {
            return true;
        }
    }

    @Test
    void shouldAnswerHealthWhileAPeerSendsByteByByte() throws Exception {
        final Socket dripping = peer("h");

        assertThat(health()).isEqualTo("serving\n");
        dripping.getOutputStream().write('e');
        assertThat(isClosed(dripping)).isFalse();
    }

    @Test
    void shouldEndAPeerThatSendsByteByByteWhateverItSends() throws Exception {
        final Socket dripping = peer("h");
        assertThat(health()).isEqualTo("serving\n"); // the port has accepted the one before
        pass(AdminPort.TIMEOUT_MS - 1);
        dripping.getOutputStream().write('e');
        assertThat(health()).isEqualTo("serving\n");
        assertThat(isClosed(dripping)).isFalse();

        pass(1);

        await().atMost(PATIENCE_S, TimeUnit.SECONDS).until(() -> isClosed(dripping));
    }

    @Test
    void shouldEndAPeerThatDoesNotReadItsAnswer() throws Exception {
        final Socket notReading = peer("large\n");
        assertThat(health()).isEqualTo("serving\n");

        pass(AdminPort.TIMEOUT_MS);

        assertThat(health()).isEqualTo("serving\n"); // a cycle after the deadline
        assertThat(bytesUntilClosed(notReading)).isLessThan(LARGE);
    }

    @Test
    void shouldWriteALargeAnswerToAPeerThatReads() throws Exception {
        assertThat(bytesUntilClosed(peer("large\n"))).isEqualTo(LARGE);
    }

    @Test
    void shouldAnswerHealthWhileAsManyPeersDripAsThereIsRoomFor() throws Exception {
        for (int i = 0; i < AdminPort.MAX_CONNECTIONS - 1; i++) {
            peer("h");
        }

        assertThat(health()).isEqualTo("serving\n");

        for (Socket each : peers) {
            assertThat(isClosed(each)).isFalse();
        }
        pass(AdminPort.TIMEOUT_MS);
        for (Socket each : peers) {
            await().atMost(PATIENCE_S, TimeUnit.SECONDS).until(() -> isClosed(each));
        }
    }

    @Test
    void shouldEndTheOldestForOneMoreThanThereIsRoomFor() throws Exception {
        for (int i = 0; i < AdminPort.MAX_CONNECTIONS + 5; i++) {
            peer("h");
        }

        assertThat(health()).isEqualTo("serving\n");

        for (int i = 0; i < 5; i++) {
            final Socket old = peers.get(i);
            await().atMost(PATIENCE_S, TimeUnit.SECONDS).until(() -> isClosed(old));
        }
        assertThat(isClosed(peers.get(peers.size() - 1))).isFalse();
    }

    @Test
    void shouldEndAPeerThatSendsNoLine() throws Exception {
        assertThat(bytesUntilClosed(peer("x".repeat(4096)))).isZero();
    }

    private String answerTo(String request) throws Exception {
        return new String(peer(request).getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void shouldAnswerHttp() throws Exception {
        assertThat(answerTo("GET /health HTTP/1.1\r\nHost: a\r\n\r\n"))
                .startsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 8\r\n")
                .endsWith("Connection: close\r\n\r\nserving\n");
        assertThat(answerTo("GET /ready?x=1 HTTP/1.0\n\n"))
                .startsWith("HTTP/1.1 503 ")
                .endsWith("\r\n\r\nnot ready: joining\n");
        assertThat(answerTo("HEAD /health HTTP/1.1\r\n\r\n"))
                .contains("Content-Length: 8\r\n")
                .endsWith("\r\n\r\n");
        assertThat(answerTo("GET /nothing HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 404 ");
        assertThat(answerTo("POST /health HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 405 ");
    }

    @Test
    void shouldEndAPeerWhoseHttpHeadHasNoEnd() throws Exception {
        final Socket dripping = peer("GET /health HTTP/1.1\r\n");
        assertThat(health()).isEqualTo("serving\n");
        assertThat(isClosed(dripping)).isFalse();
        pass(AdminPort.TIMEOUT_MS);
        await().atMost(PATIENCE_S, TimeUnit.SECONDS).until(() -> isClosed(dripping));
        assertThat(bytesUntilClosed(peer("GET /health HTTP/1.1\r\n" + "x".repeat(4096))))
                .isZero();
    }

    @Test
    void shouldOutliveAnAnswerThatFails() throws Exception {
        assertThat(bytesUntilClosed(peer("fail\n"))).isZero();
        assertThat(health()).isEqualTo("serving\n");
    }

    @Test
    void shouldListenNoMoreOnceItIsClosed() throws Exception {
        final Socket dripping = peer("h");
        assertThat(health()).isEqualTo("serving\n");

        port.close();

        assertThat(bytesUntilClosed(dripping)).isZero();
        final AdminPort again =
                new AdminPort(new InetSocketAddress("127.0.0.1", port.port()), line -> "again\n", clock);
        assertThat(health()).isEqualTo("again\n");
        again.close();
    }

    /** A slowly dripping server holds its caller no longer than a silent server. */
    @Test
    void shouldGiveUpAskingAServerThatAnswersByteByByte() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
            final Thread dripping = new Thread(() -> drip(server));
            dripping.start();
            final ManualClock own = new ManualClock();
            final Clock stepping = new Clock() { // each reading costs a second
                        @Override
                        public long nanoTime() {
                            own.advanceNs(TimeUnit.SECONDS.toNanos(1));
                            return own.nanoTime();
                        }

                        @Override
                        public long wallMs() {
                            return own.wallMs();
                        }
                    };
            assertThatThrownBy(() -> AdminRequest.ask(
                            server.getInetAddress().getHostAddress(), server.getLocalPort(), "health", stepping))
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessageContaining("no whole answer");
            dripping.join(); // ends with the caller's connection
        }
    }

    private static void drip(ServerSocket server) {
        try (Socket asker = server.accept()) {
            while (asker.isConnected()) {
                asker.getOutputStream().write('x');
            }
        } catch (IOException e) {
            assertThat(e).isNotNull(); // the caller is gone
        }
    }
}
