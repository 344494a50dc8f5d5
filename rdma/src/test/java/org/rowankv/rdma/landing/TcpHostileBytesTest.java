package org.rowankv.rdma.landing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.rdma.landing.wire.RefusalStatus;
import org.rowankv.runtime.ManualClock;

/** Peers that break the protocol or their connection: it is closed and counted, and no other is affected. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("jvm")
final class TcpHostileBytesTest {
    private static final int SEGMENT = 4096;
    private static final int TAG = 5;
    private static final long NONCE = 99;

    private final ManualClock clock = new ManualClock();
    private LandingFabric fabric;
    private TestServer receiver;
    private TestServer honest;
    private QueuePair honestPair;
    private InetSocketAddress address;

    @BeforeEach
    void open() {
        fabric = Loopback.fabric(with -> Loopback.atLoop(with, clock));
        address = fabric.listenAddress();
        receiver = TestServer.open(fabric, 1, 8, SEGMENT);
        receiver.postAll();
        honest = TestServer.open(fabric, 3, 1, SEGMENT);
        honestPair = honest.connectTo(receiver);
    }

    @AfterEach
    void close() {
        fabric.close();
    }

    private List<Long> landedIds() {
        return receiver.landed(TAG).stream().map(Landed::id).toList();
    }

    /** The honest sender continues on its connection. */
    private void assertOthersGoOn(long id) {
        final int[] status = {-1};
        honestPair.send(id, new Entries().make(id, 100), 0, 100, TAG);
        while (status[0] < 0) {
            honestPair.poll((context, completed) -> status[0] = completed, 1);
        }
        assertThat(status[0]).isEqualTo(CompletionStatus.LANDED);
        assertThat(landedIds()).endsWith(id);
    }

    private void awaitFault(WireFault fault) {
        while (fabric.faults(fault) == 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldLandWhereverTheNetworkCutsTheBytes() throws IOException {
        try (RawPeer peer = RawPeer.queuePair(address, 1, NONCE)) {
            final byte[] first = peer.sendFrame(1, TAG, RawPeer.body(1, 70));
            for (int cut = 1; cut < first.length; cut++) {
                final byte[] frame = peer.sendFrame(cut, TAG, RawPeer.body(cut, 70));
                peer.send(frame, 0, cut);
                // The kernel may join them; WireFuzzTest splits them for certain.
                peer.send(frame, cut, frame.length);
                peer.awaitAck(cut);
            }
            assertThat(landedIds()).hasSize(first.length - 1).isSorted();
        }
    }

    @Test
    void shouldNotDelayOthersForAStalledSender() throws IOException {
        try (RawPeer peer = RawPeer.queuePair(address, 1, NONCE)) {
            final byte[] frame = peer.sendFrame(1, TAG, RawPeer.body(1, 1000));
            peer.send(frame, 0, 500);
            for (long id = 10; id < 20; id++) {
                assertOthersGoOn(id);
            }
            peer.send(frame, 500, frame.length);
            peer.awaitAck(1);
            assertThat(landedIds()).endsWith(1L).hasSize(11);
            // A sender that never continues affects no other.
            peer.send(peer.sendFrame(2, TAG, RawPeer.body(2, 1000)), 0, 900);
        }
        assertOthersGoOn(20);
        assertThat(landedIds()).doesNotContain(2L);
    }

    @Test
    void shouldAcknowledgeCumulatively() throws IOException {
        try (RawPeer peer = RawPeer.queuePair(address, 1, NONCE)) {
            final java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
            for (int i = 1; i <= 40; i++) {
                all.write(peer.sendFrame(i, TAG, RawPeer.body(i, 100)));
            }
            peer.send(all.toByteArray());
            long last = 0;
            int frames = 0;
            while (last < 40) {
                final RawPeer.Frame ack = peer.read();
                assertThat(ack.type()).isEqualTo(PeerFrameDescriptor.ACK);
                assertThat(ack.number()).isGreaterThanOrEqualTo(last);
                last = ack.number();
                frames++;
            }
            assertThat(frames).isLessThan(40);
        }
    }

    Stream<Arguments> garbageAtFirst() {
        final byte[] hello = RawPeerBytes.hello();
        final byte[] wrongCrc = hello.clone();
        wrongCrc[PeerHandshakeDescriptor.TERM_OFFSET] ^= 1;
        final byte[] endless = hello.clone();
        endless[HandshakeDescriptor.LENGTH_OFFSET + 3] = 0x7f;
        final byte[] negative = hello.clone();
        negative[HandshakeDescriptor.LENGTH_OFFSET + 3] = (byte) 0x80;
        final byte[] eager = java.util.Arrays.copyOf(hello, hello.length + 1);
        return Stream.of(
                Arguments.of(WireFault.FOREIGN_PROTOCOL, "GET / HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII)),
                Arguments.of(WireFault.FOREIGN_PROTOCOL, new byte[] {0x16, 3, 1}),
                Arguments.of(WireFault.FOREIGN_PROTOCOL, new byte[100_000]),
                Arguments.of(WireFault.BAD_CHECKSUM, wrongCrc),
                Arguments.of(WireFault.BAD_LENGTH, endless),
                Arguments.of(WireFault.BAD_LENGTH, negative),
                Arguments.of(WireFault.BAD_FRAME, eager));
    }

    @ParameterizedTest
    @MethodSource("garbageAtFirst")
    void shouldCloseAConnectionThatBeginsWith(WireFault fault, byte[] bytes) throws IOException {
        try (RawPeer peer = new RawPeer(address)) {
            try {
                peer.send(bytes);
            } catch (java.net.SocketException e) {
                assertThat(e).as("closed while this end was sending").isNotNull();
            }
            assertThat(peer.awaitEnd()).isZero();
        }
        awaitFault(fault);
        assertOthersGoOn(1);
    }

    @Test
    void shouldNameItsVersionToAPeerOfAnother() throws IOException {
        final byte[] hello = RawPeerBytes.hello();
        hello[HandshakeDescriptor.VERSION_OFFSET] = 77;
        try (RawPeer peer = new RawPeer(address)) {
            peer.send(hello);
            final RawPeer.Answer answer = peer.welcome();
            assertThat(RefusalStatus.reasonOf(answer.status()))
                    .isEqualTo(org.rowankv.rdma.FabricException.Reason.OTHER_VERSION);
            assertThat(answer.text()).contains("version 77").contains("version " + HandshakeDescriptor.VERSION);
            assertThat(peer.awaitEnd()).isZero();
        }
        awaitFault(WireFault.OTHER_VERSION);
        assertOthersGoOn(1);
    }

    /** As the first version of this protocol sent it. */
    @Test
    void shouldNameTheReleaseToAPeerOfVersion1() throws IOException {
        final byte[] hello = HexFormat.of()
                .parseHex("526f77616e537276" + "424b350c" + "58000000" + "01000000" + "01000000" + "4d00000000000000"
                        + "02000000" + "01000000" + "0100000000000000" + "0100000000000000" + "0100000000000000"
                        + "6300000000000000" + "0100000000000000" + "00400000" + "00000000");
        try (RawPeer peer = new RawPeer(address)) {
            peer.send(hello);
            final RawPeer.Answer answer = peer.welcome();
            assertThat(answer.status()).isEqualTo(HandshakeDescriptor.REFUSED_VERSION);
            assertThat(answer.text())
                    .endsWith("the server speaks version 1, this server speaks version 3;"
                            + " run the same release on all servers of the cluster");
            assertThat(peer.awaitEnd()).isZero();
        }
        awaitFault(WireFault.OTHER_VERSION);
        assertOthersGoOn(1);
    }

    @Test
    void shouldRefuseAClientInTheFormOfItsOwnPort() throws IOException {
        final byte[] hello = HandshakeDescriptor.seal(HandshakeDescriptor.frame(WirePort.CLIENTS, 40, 0))
                .array();
        try (RawPeer peer = new RawPeer(address)) {
            peer.send(hello);
            final RawPeer.Answer answer = peer.answerAt(WirePort.CLIENTS);
            assertThat(answer.status()).isEqualTo(HandshakeDescriptor.REFUSED_PORT);
            assertThat(answer.text()).contains("the port for servers (--peer-listen)", "(--listen)");
            assertThat(peer.awaitEnd()).isZero();
        }
        awaitFault(WireFault.OTHER_PORT);
        assertOthersGoOn(1);
    }

    @Test
    void shouldCloseASilentConnection() throws IOException {
        try (RawPeer silent = new RawPeer(address);
                RawPeer slow = new RawPeer(address)) {
            slow.send(RawPeerBytes.hello(), 0, 20);
            while (fabric.acceptedConnections() < 3) {
                Thread.onSpinWait();
            }
            clock.advanceMs(60_001);
            assertThat(silent.awaitEnd()).isZero();
            assertThat(slow.awaitEnd()).isZero();
        }
        assertThat(fabric.faults(WireFault.NO_HANDSHAKE)).isEqualTo(2);
        assertOthersGoOn(1);
    }

    private record Bad(WireFault fault, String what, byte[] bytes) {
        @Override
        public String toString() {
            return fault + ": " + what;
        }
    }

    Stream<Bad> badFrames() throws IOException {
        try (RawPeer peer = new RawPeer(RawPeerBytes.silentListener())) {
            final byte[] good = peer.sendFrame(1, TAG, RawPeer.body(1, 100));
            final byte[] flipped = good.clone();
            flipped[FrameHeadDescriptor.SMALL_OFFSET] ^= 4;
            final byte[] shortened = good.clone();
            shortened[FrameHeadDescriptor.LENGTH_OFFSET] = 39;
            final byte[] eight = new byte[8];
            return Stream.of(
                    new Bad(WireFault.BAD_CHECKSUM, "a flipped bit in the tag", flipped),
                    new Bad(WireFault.BAD_LENGTH, "shorter than a header", shortened),
                    new Bad(WireFault.BAD_CHECKSUM, "zeros", zerosOfLength(100)),
                    new Bad(WireFault.BAD_LENGTH, "zeros without a length", new byte[100]),
                    new Bad(WireFault.BAD_LENGTH, "too long", peer.sendFrame(1, TAG, new byte[16385 - 24])),
                    new Bad(
                            WireFault.BAD_LENGTH,
                            "a ping with payload",
                            peer.frame(PeerFrameDescriptor.PING, 0, 0, 0, 0, eight)),
                    new Bad(WireFault.BAD_FRAME, "unknown", peer.frame(200, 0, 0, 0, 0)),
                    new Bad(
                            WireFault.BAD_FRAME,
                            "an ack to a receiver",
                            peer.frame(PeerFrameDescriptor.ACK, 0, 0, 0, 0)),
                    new Bad(WireFault.BAD_FRAME, "a message", peer.frame(PeerFrameDescriptor.MESSAGE, 0, 1, 0, 0)),
                    new Bad(WireFault.OUT_OF_ORDER, "the second first", peer.sendFrame(2, TAG, eight)),
                    new Bad(WireFault.OUT_OF_ORDER, "the zeroth", peer.sendFrame(0, TAG, eight)),
                    new Bad(WireFault.BAD_FRAME, "type 0", peer.frame(PeerFrameDescriptor.SEND, TAG, 1, 0, 0, eight)),
                    new Bad(
                            WireFault.BAD_FRAME,
                            "type 254",
                            peer.frame(PeerFrameDescriptor.SEND, TAG, 1, 0, 254, eight)),
                    new Bad(
                            WireFault.BAD_FRAME,
                            "type 2^40",
                            peer.frame(PeerFrameDescriptor.SEND, TAG, 1, 0, 1L << 40, eight)),
                    new Bad(WireFault.BAD_FRAME, "a one-sided write", peer.frame(2, 0, 1, TestServer.BASE, 0, eight)),
                    new Bad(WireFault.BAD_FRAME, "a one-sided read", peer.frame(3, 0, 1, TestServer.BASE, 64)),
                    new Bad(
                            WireFault.BAD_FRAME,
                            "a request of no credit",
                            peer.frame(PeerFrameDescriptor.CREDIT_REQUEST, 0, 0, 0, 0)),
                    new Bad(
                            WireFault.BAD_FRAME,
                            "a request of less than none",
                            peer.frame(PeerFrameDescriptor.CREDIT_REQUEST, 0, 0, -5, 0)),
                    new Bad(
                            WireFault.BAD_FRAME,
                            "less returned",
                            peer.frame(PeerFrameDescriptor.CREDIT_RETURN, 0, 0, -5, 0)));
        }
    }

    private static byte[] zerosOfLength(int length) {
        final byte[] bytes = new byte[length];
        bytes[FrameHeadDescriptor.LENGTH_OFFSET] = (byte) length;
        return bytes;
    }

    @ParameterizedTest
    @MethodSource("badFrames")
    void shouldCloseAConnectionThatSends(Bad bad) throws IOException {
        try (RawPeer peer = RawPeer.queuePair(address, 1, NONCE)) {
            peer.send(bad.bytes);
            peer.awaitEnd();
        }
        assertThat(fabric.faults(bad.fault)).isEqualTo(1);
        assertOthersGoOn(7);
        assertThat(landedIds()).containsExactly(7L);
    }

    @Test
    void shouldReturnNoMoreCreditThanWasGranted() throws IOException {
        receiver.credit().set(100);
        try (RawPeer peer = RawPeer.queuePair(address, 1, NONCE)) {
            peer.send(peer.frame(PeerFrameDescriptor.CREDIT_REQUEST, 0, 0, 60, 0));
            RawPeer.Frame ack = peer.read();
            while (ack.second() < 60) {
                ack = peer.read();
            }
            assertThat(ack.first()).isEqualTo(60);
            peer.send(peer.frame(PeerFrameDescriptor.CREDIT_RETURN, 0, 0, 1_000_000, 0));
            peer.send(peer.sendFrame(1, TAG, RawPeer.body(1, 64)));
            peer.awaitAck(1);
            assertThat(receiver.credit()).hasValue(100);
        }
    }

    @Test
    void shouldCloseAConnectionThatSendsBeyondItsLimitOfMessages() throws IOException {
        try (RawPeer peer = new RawPeer(address)) {
            assertThat(peer.greet(RawPeer.hello(PeerHandshakeDescriptor.KIND_MESSAGES, 2, 1, 0, NONCE))
                            .status())
                    .isZero();
            final int most = 1024;
            for (int i = 1; i <= most + 1; i++) {
                peer.send(peer.frame(PeerFrameDescriptor.MESSAGE, 0, i, 0, 0));
            }
            peer.awaitEnd();
        } catch (java.net.SocketException e) {
            assertThat(e).as("closed while this end was sending").isNotNull();
        }
        awaitFault(WireFault.BEYOND_ITS_WINDOW);
        int polled = 0;
        while (polled < 1024) {
            polled += receiver.endpoint().pollMessages(100);
        }
        assertThat(receiver.endpoint().pollMessages(1)).isZero();
        assertOthersGoOn(1);
    }

    @Test
    void shouldRefuseASecondProcessOfTheSameName() throws IOException {
        try (RawPeer first = RawPeer.queuePair(address, 5, NONCE);
                RawPeer second = new RawPeer(address)) {
            final RawPeer.Answer answer =
                    second.greet(RawPeer.hello(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, 9, NONCE + 1));
            assertThat(RefusalStatus.reasonOf(answer.status()))
                    .isEqualTo(org.rowankv.rdma.FabricException.Reason.NOT_ADMITTED);
            assertThat(answer.text()).contains("another process is connected as server 2");
            first.send(first.sendFrame(1, TAG, RawPeer.body(1, 64)));
            first.awaitAck(1);
        }
        assertThat(fabric.faults(WireFault.IMPOSTOR)).isEqualTo(1);
    }

    @Test
    void shouldFenceWhatAHelloNoLongerLists() throws IOException {
        try (RawPeer one = RawPeer.queuePair(address, 1, NONCE);
                RawPeer two = RawPeer.queuePair(address, 2, NONCE, 1);
                RawPeer three = RawPeer.queuePair(address, 3, NONCE, 2)) {
            assertThat(one.awaitEnd()).isEqualTo(PeerFrameDescriptor.FENCED);
            two.send(two.sendFrame(1, TAG, RawPeer.body(2, 64)));
            two.awaitAck(1);
            three.send(three.sendFrame(1, TAG, RawPeer.body(3, 64)));
            three.awaitAck(1);
            // A late hello does not fence pairs with higher numbers.
            try (RawPeer late = RawPeer.queuePair(address, 1, NONCE)) {
                late.send(late.sendFrame(1, TAG, RawPeer.body(1, 64)));
                late.awaitAck(1);
                two.send(two.sendFrame(2, TAG, RawPeer.body(4, 64)));
                two.awaitAck(2);
            }
        }
        assertThat(landedIds()).containsExactly(2L, 3L, 1L, 4L);
    }

    @Test
    void shouldFenceTheFormerIncarnationOfAServer() throws IOException {
        try (RawPeer former = RawPeer.queuePair(address, 5, NONCE);
                RawPeer next = new RawPeer(address)) {
            final PeerHello hello = new PeerHello(
                    PeerHandshakeDescriptor.KIND_QUEUE_PAIR,
                    TestServer.CLUSTER,
                    2,
                    1,
                    2,
                    1,
                    1,
                    NONCE + 1,
                    1,
                    16384,
                    new long[0]);
            assertThat(next.greet(hello).status()).isZero();
            assertThat(former.awaitEnd()).isEqualTo(PeerFrameDescriptor.FENCED);
        }
    }

    @Test
    void shouldFenceASilentSender() throws IOException {
        try (RawPeer peer = RawPeer.queuePair(address, 1, NONCE)) {
            peer.send(peer.sendFrame(1, TAG, RawPeer.body(1, 64)));
            peer.awaitAck(1);
            clock.advanceMs(1_000_001);
            peer.awaitEnd();
            awaitFault(WireFault.SILENT);
        }
    }

    /** Each byte is in time, but the frame makes no progress. */
    @Test
    void shouldFenceASenderWhoseFrameMakesNoProgress() throws IOException {
        try (RawPeer peer = RawPeer.queuePair(address, 1, NONCE)) {
            final byte[] frame = peer.sendFrame(1, TAG, RawPeer.body(1, 1000));
            peer.send(frame, 0, 100);
            for (int i = 0; i < 30 && fabric.faults(WireFault.STALLED) == 0; i++) {
                clock.advanceMs(100_000);
                assertOthersGoOn(10 + i);
                peer.send(frame, 100 + i, 101 + i);
                assertOthersGoOn(100 + i);
            }
        } catch (java.net.SocketException e) {
            assertThat(e).as("closed while this end was sending").isNotNull();
        }
        await().until(() -> fabric.faults(WireFault.STALLED) > 0);
        assertThat(fabric.faults(WireFault.SILENT)).isZero();
        assertOthersGoOn(1_000);
    }

    /** Twelve peers send a message each, of that length, but for its last byte. */
    private void sendUnfinishedMessages(List<RawPeer> peers, int length) throws IOException {
        for (int from = 2; from < 14; from++) {
            final RawPeer peer = new RawPeer(address);
            peers.add(peer);
            assertThat(peer.greet(RawPeer.hello(PeerHandshakeDescriptor.KIND_MESSAGES, from, 1, 0, NONCE))
                            .status())
                    .isZero();
            final byte[] message = peer.frame(PeerFrameDescriptor.MESSAGE, 0, 1, 0, 0, new byte[length]);
            peer.send(message, 0, message.length - 1);
        }
    }

    /** Frames that never become complete, on more connections than memory allows. */
    @Test
    void shouldBoundTheMemoryOfIncompleteFrames() throws IOException {
        final int longest = 1 << 20;
        reopen(16, longest);
        final List<RawPeer> peers = new ArrayList<>();
        try {
            sendUnfinishedMessages(peers, longest);
            await().until(() -> fabric.faults(WireFault.STALLED) > 0);
            await().until(() -> fabric.heldBytes() <= 9L * longest);
            assertThat(fabric.faults(WireFault.STALLED)).isLessThan(12);
        } finally {
            for (RawPeer each : peers) {
                each.close();
            }
        }
        await().until(() -> fabric.heldBytes() == 0);
    }

    /** The oldest unfinished entry holds little memory, so it is not the one to end. */
    @Test
    void shouldEndTheLargestUnfinishedFrameBeforeTheOldest() throws IOException {
        final int longest = 1 << 20;
        reopen(16, longest);
        final List<RawPeer> peers = new ArrayList<>();
        try (RawPeer innocent = RawPeer.queuePair(address, 1, NONCE)) {
            final byte[] entry = innocent.sendFrame(1, TAG, RawPeer.body(1, 1000));
            innocent.send(entry, 0, 500);
            await().until(() -> fabric.heldBytes() > 0);
            clock.advanceMs(1_000);
            sendUnfinishedMessages(peers, longest);
            await().until(() -> fabric.faults(WireFault.STALLED) > 0);
            innocent.send(entry, 500, entry.length);
            innocent.awaitAck(1);
        } finally {
            for (RawPeer each : peers) {
                each.close();
            }
        }
    }

    private void reopen(int maxConnections) {
        reopen(maxConnections, 16 << 20);
    }

    /** A fabric with room for so many connections, and the receiver at it. */
    private void reopen(int maxConnections, int maxRpc) {
        fabric.close();
        fabric = Loopback.fabric(with -> {
            Loopback.atLoop(with, clock);
            with.maxConnections = maxConnections;
            with.maxRpc = maxRpc;
        });
        address = fabric.listenAddress();
        receiver = TestServer.open(fabric, 1, 8, SEGMENT);
        receiver.postAll();
    }

    @Test
    void shouldRefuseConnectionsBeyondTheLimit() throws IOException {
        reopen(2);
        final RawPeer one = RawPeer.queuePair(address, 1, NONCE);
        try (RawPeer two = RawPeer.queuePair(address, 2, NONCE, 1)) {
            try (RawPeer three = new RawPeer(address)) {
                assertThat(three.awaitEnd()).isZero();
            }
            assertThat(fabric.faults(WireFault.TOO_MANY_CONNECTIONS)).isEqualTo(1);
            one.close();
            while (fabric.acceptedConnections() > 1) {
                Thread.onSpinWait();
            }
            two.send(two.sendFrame(1, TAG, RawPeer.body(1, 64)));
            two.awaitAck(1);
            RawPeer.queuePair(address, 3, NONCE, 2).close();
        }
    }

    /** Silent or incomplete connections: beyond the limit, the oldest is closed. */
    @Test
    void shouldNotLetHalfOpenConnectionsLockAPeerOut() throws IOException {
        reopen(4);
        final List<RawPeer> flood = new ArrayList<>();
        try {
            for (int i = 0; i < 12; i++) {
                final RawPeer peer = new RawPeer(address);
                flood.add(peer);
                peer.send(RawPeerBytes.hello(), 0, i);
            }
            try (RawPeer peer = RawPeer.queuePair(address, 1, NONCE)) {
                peer.send(peer.sendFrame(1, TAG, RawPeer.body(1, 64)));
                peer.awaitAck(1);
                for (RawPeer each : flood.subList(0, 8)) {
                    assertThat(each.awaitEnd()).isZero();
                }
                assertThat(fabric.faults(WireFault.TOO_MANY_CONNECTIONS)).isEqualTo(9);
                await().until(() -> fabric.acceptedConnections() <= 4);
            }
        } finally {
            for (RawPeer each : flood) {
                each.close();
            }
        }
    }
}
