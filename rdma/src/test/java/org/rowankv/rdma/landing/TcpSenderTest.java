package org.rowankv.rdma.landing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.tcp.TcpTransport;
import org.rowankv.runtime.ManualClock;

/** The sender's end, against receivers that vanish, are silent, break the protocol, or do not exist. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class TcpSenderTest {
    private final ManualClock clock = new ManualClock();
    private final AtomicReference<InetSocketAddress> address = new AtomicReference<>();
    private FakeReceiver receiver;
    private LandingFabric fabric;
    private TestServer sender;

    @BeforeEach
    void open() throws IOException {
        receiver = new FakeReceiver();
        address.set(receiver.address());
        fabric = TcpTransport.open(Loopback.settings(address, with -> {
            Loopback.atLoop(with, clock);
            with.retryMs = 1000;
        }));
        sender = TestServer.open(fabric, 2, 1, 4096);
    }

    @AfterEach
    void close() throws IOException {
        fabric.close();
        receiver.close();
    }

    private CompletableFuture<QueuePair> connecting() {
        return CompletableFuture.supplyAsync(
                () -> sender.endpoint().connect(1, 1, 1), task -> new Thread(task).start());
    }

    private record Connected(QueuePair pair, FakeReceiver.Connection connection) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            pair.close();
            connection.close();
        }
    }

    private Connected connect() throws IOException {
        final CompletableFuture<QueuePair> pair = connecting();
        final FakeReceiver.Connection connection = receiver.accept();
        connection.hello();
        connection.welcome();
        return new Connected(pair.join(), connection);
    }

    private static void post(QueuePair pair, long id) {
        assertThat(pair.send(id, new Entries().make(id, 100), 0, 100, 0)).isEqualTo(PostStatus.POSTED);
    }

    private static List<Integer> awaitStatuses(QueuePair pair, int count) {
        final List<Integer> statuses = new ArrayList<>();
        while (statuses.size() < count) {
            pair.poll((context, status) -> statuses.add(status), 10);
            Thread.onSpinWait();
        }
        return statuses;
    }

    @Test
    void shouldReportSendsInFlightAsUnknownWhenTheConnectionBreaks() throws IOException {
        try (Connected connected = connect()) {
            final QueuePair pair = connected.pair;
            for (long id = 1; id <= 3; id++) {
                post(pair, id);
                pair.poll((context, status) -> {}, 0);
                assertThat(connected.connection.readFrame()).isEqualTo(PeerFrameDescriptor.SEND);
            }
            connected.connection.frame(PeerFrameDescriptor.ACK, 0, 1, 0, 0);
            connected.connection.close();
            assertThat(awaitStatuses(pair, 3))
                    .containsExactly(CompletionStatus.LANDED, CompletionStatus.UNKNOWN, CompletionStatus.UNKNOWN);
            assertThat(pair.isFenced()).isTrue();
            assertThat(pair.send(4, new Entries().make(4, 100), 0, 100, 0)).isEqualTo(PostStatus.FENCED);
        }
    }

    @Test
    void shouldReportWhetherFencedSendsHadLanded() throws IOException {
        try (Connected connected = connect()) {
            final QueuePair pair = connected.pair;
            for (long id = 1; id <= 3; id++) {
                post(pair, id);
                pair.poll((context, status) -> {}, 0);
                assertThat(connected.connection.readFrame()).isEqualTo(PeerFrameDescriptor.SEND);
            }
            // One of two is forced; the other has landed and may be unforced.
            connected.connection.frame(PeerFrameDescriptor.FENCED, 0, 1, 0, 2);
            assertThat(awaitStatuses(pair, 3))
                    .containsExactly(CompletionStatus.LANDED, CompletionStatus.UNKNOWN, CompletionStatus.FENCED);
        }
    }

    @Test
    void shouldCloseAQueuePairToASilentReceiver() throws IOException {
        try (Connected connected = connect()) {
            post(connected.pair, 1);
            connected.pair.poll((context, status) -> {}, 0);
            assertThat(connected.connection.readFrame()).isEqualTo(PeerFrameDescriptor.SEND);
            clock.advanceMs(1_000_001);
            assertThat(awaitStatuses(connected.pair, 1)).containsExactly(CompletionStatus.UNKNOWN);
        }
        assertThat(fabric.faults(WireFault.SILENT)).isEqualTo(1);
    }

    @Test
    void shouldSendHeartbeatsWhileIdle() throws IOException {
        try (Connected connected = connect()) {
            clock.advanceMs(9);
            assertThat(connected.connection.readFrame()).isEqualTo(PeerFrameDescriptor.PING);
            connected.connection.frame(PeerFrameDescriptor.ACK, 0, 0, 0, 0);
            assertThat(connected.pair.isFenced()).isFalse();
        }
    }

    @Test
    void shouldListItsLiveQueuePairsInTheNextHello() throws IOException {
        try (Connected one = connect();
                Connected two = connect()) {
            one.connection.close();
            while (!one.pair.isFenced()) {
                Thread.onSpinWait();
            }
            final CompletableFuture<QueuePair> third = connecting();
            try (FakeReceiver.Connection connection = receiver.accept()) {
                final var hello = connection.hello();
                assertThat(hello.pair()).isEqualTo(3);
                assertThat(hello.live()).containsExactly(2);
                connection.welcome();
                third.join().close();
            }
            assertThat(two.pair.isFenced()).isFalse();
        }
    }

    private interface Script {
        void play(FakeReceiver.Connection connection) throws IOException;
    }

    private record ScriptedFault(WireFault fault, String what, Script script) {
        @Override
        public String toString() {
            return what;
        }
    }

    Stream<ScriptedFault> faults() {
        final long base = 4096;
        return Stream.of(
                new ScriptedFault(
                        WireFault.OUT_OF_ORDER,
                        "acknowledges what was not sent",
                        c -> c.frame(PeerFrameDescriptor.ACK, 0, 3, 0, 0)),
                new ScriptedFault(
                        WireFault.OUT_OF_ORDER,
                        "acknowledges less",
                        c -> c.frame(PeerFrameDescriptor.ACK, 0, -1, 0, 0)),
                new ScriptedFault(
                        WireFault.OUT_OF_ORDER,
                        "grants unrequested credit",
                        c -> c.frame(PeerFrameDescriptor.ACK, 0, 0, base, 0)),
                new ScriptedFault(
                        WireFault.OUT_OF_ORDER,
                        "responds without a request",
                        c -> c.frame(PeerFrameDescriptor.ACK, 0, 0, 0, 1)),
                new ScriptedFault(WireFault.BAD_FRAME, "of no type", c -> c.frame(9, 0, 1, 0, 0)),
                new ScriptedFault(
                        WireFault.OUT_OF_ORDER,
                        "fenced in the future",
                        c -> c.frame(PeerFrameDescriptor.FENCED, 0, 0, 0, 9)),
                new ScriptedFault(WireFault.BAD_FRAME, "a send", c -> c.frame(PeerFrameDescriptor.SEND, 0, 1, 0, 7)),
                new ScriptedFault(
                        WireFault.BAD_CHECKSUM,
                        "noise",
                        c -> c.send(new byte[] {
                            1, 2, 3, 4, 40, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
                            9, 9, 9, 9, 9, 9, 9, 9, 9, 9
                        })));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void shouldCloseAConnectionWhoseReceiver(ScriptedFault scripted) throws IOException {
        try (Connected connected = connect()) {
            post(connected.pair, 1);
            post(connected.pair, 2);
            connected.pair.poll((context, status) -> {}, 0);
            assertThat(connected.connection.readFrame()).isEqualTo(PeerFrameDescriptor.SEND);
            assertThat(connected.connection.readFrame()).isEqualTo(PeerFrameDescriptor.SEND);
            scripted.script.play(connected.connection);
            assertThat(awaitStatuses(connected.pair, 2))
                    .containsExactly(CompletionStatus.UNKNOWN, CompletionStatus.UNKNOWN);
        }
        assertThat(fabric.faults(scripted.fault)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/1.1 400 Bad Request\r\n\r\n", "", "RowanSr"})
    void shouldReportThatThePeerIsNoServer(String answer) throws IOException {
        final CompletableFuture<QueuePair> pair = connecting();
        try (FakeReceiver.Connection connection = receiver.accept()) {
            connection.hello();
            connection.send(answer.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        }
        assertThatThrownBy(pair::join)
                .hasCauseInstanceOf(FabricException.class)
                .cause()
                .satisfies(e -> assertThat(((FabricException) e).reason()).isEqualTo(Reason.UNKNOWN_PEER));
    }

    @Test
    void shouldFailAtOnceForAWhileAfterARefusedConnection() throws IOException {
        final InetSocketAddress closedAddress = receiver.address();
        receiver.close();
        assertThatThrownBy(() -> sender.endpoint().connect(1, 1, 1)).hasMessageContaining("refused");
        receiver = new FakeReceiver();
        address.set(receiver.address());
        // The pause is not over: the result is the previous one, without a connection attempt.
        assertThatThrownBy(() -> sender.endpoint().connect(1, 1, 1))
                .hasMessageContaining(String.valueOf(closedAddress.getPort()));
        clock.advanceMs(1001);
        connect().close();
    }

    @Test
    void shouldGiveUpWhenThereIsNoAnswer() throws IOException {
        fabric.close();
        fabric = TcpTransport.open(Loopback.settings(address, with -> {
            with.connectTimeoutMs = 20;
            with.retryMs = 0;
            with.clock = clock;
        }));
        sender = TestServer.open(fabric, 2, 1, 4096);
        final CompletableFuture<QueuePair> pair = connecting();
        try (FakeReceiver.Connection connection = receiver.accept()) {
            connection.hello();
            assertThatThrownBy(pair::join).hasMessageContaining("no answer in time");
            assertThat(connection.readFrame()).isEqualTo(-1);
        }
    }

    @Test
    void shouldLoseNoMoreThanTheMessagesOnTheirWayWhenALinkBreaks() throws IOException {
        final ByteBuffer message = ByteBuffer.allocate(10);
        assertThat(sender.endpoint().message(1, message)).isEqualTo(PostStatus.POSTED);
        try (FakeReceiver.Connection connection = receiver.accept()) {
            assertThat(connection.hello().kind()).isEqualTo(PeerHandshakeDescriptor.KIND_MESSAGES);
            connection.welcome();
            assertThat(connection.readFrame()).isEqualTo(PeerFrameDescriptor.MESSAGE);
        }
        // Once the break is noticed, the next message uses another connection.
        final CompletableFuture<FakeReceiver.Connection> again = CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return receiver.accept();
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                },
                task -> new Thread(task).start());
        while (!again.isDone()) {
            assertThat(sender.endpoint().message(1, message)).isIn(PostStatus.POSTED, PostStatus.QUEUE_FULL);
            Thread.onSpinWait();
        }
        try (FakeReceiver.Connection connection = again.join()) {
            connection.hello();
            connection.welcome();
            assertThat(connection.readFrame()).isEqualTo(PeerFrameDescriptor.MESSAGE);
        }
    }
}
