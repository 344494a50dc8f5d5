package org.rowankv.rdma.landing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.tcp.TcpTransport;
import org.rowankv.runtime.ManualClock;

/** Limits of messages in flight to one server, in number and bytes: at the sender, and at a receiver that does not trust it. */
final class MessageWindowTest {
    private static final int LONGEST = 1000;
    private static final int MOST = 8;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static void small(LandingFabricSettings.Builder settings) {
        settings.messages = MOST;
        settings.maxRpc = LONGEST;
    }

    /** Sizes of messages, of which the last is one too many; the receiver polls none. */
    private static Stream<List<Integer>> oneTooMany() {
        return Stream.of(
                List.of(LONGEST, LONGEST, 1),
                List.of(LONGEST, LONGEST - 1, 1, 1),
                List.of(1, LONGEST, LONGEST),
                List.of(500, 500, 500, 500, 1),
                List.of(LONGEST, 0, 0, LONGEST, 0, LONGEST),
                Collections.nCopies(MOST + 1, 0),
                Collections.nCopies(MOST + 1, 10));
    }

    @ParameterizedTest
    @MethodSource("oneTooMany")
    void shouldCloseAConnectionThatSendsBeyondItsWindow(List<Integer> sizes) throws IOException {
        try (LandingFabric fabric = Loopback.fabric(MessageWindowTest::small)) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, 4096);
            try (RawPeer peer = greeted(fabric)) {
                for (int i = 0; i < sizes.size(); i++) {
                    message(peer, i + 1, sizes.get(i));
                }
                peer.awaitEnd();
            }
            assertThat(fabric.faults(WireFault.BEYOND_ITS_WINDOW)).isEqualTo(1);
            assertPolled(receiver, sizes.subList(0, sizes.size() - 1));
            assertThat(receiver.endpoint().pollMessages(1)).isZero();
        }
    }

    /** Polled messages make room, in number and bytes. */
    @Test
    void shouldHaveRoomForWhatFollowsWhatWasPolled() throws IOException {
        try (LandingFabric fabric = Loopback.fabric(MessageWindowTest::small)) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, 4096);
            try (RawPeer peer = greeted(fabric)) {
                for (int i = 1; i < 20; i++) {
                    message(peer, 2 * i - 1, LONGEST);
                    message(peer, 2 * i, LONGEST);
                    assertPolled(receiver, List.of(LONGEST, LONGEST));
                }
            }
            assertThat(fabric.faults(WireFault.BEYOND_ITS_WINDOW)).isZero();
        }
    }

    private static RawPeer greeted(LandingFabric fabric) throws IOException {
        final RawPeer peer = new RawPeer(fabric.listenAddress());
        assertThat(peer.greet(RawPeer.hello(PeerHandshakeDescriptor.KIND_MESSAGES, 2, 1, 0, 77))
                        .status())
                .isZero();
        return peer;
    }

    private static void message(RawPeer peer, long number, int size) throws IOException {
        final byte[] payload = new byte[size];
        try {
            peer.send(peer.frame(PeerFrameDescriptor.MESSAGE, peer.crc(payload), number, 0, 0, payload));
        } catch (SocketException e) {
            assertThat(e).as("closed while this end was sending").isNotNull();
        }
    }

    private static void assertPolled(TestServer receiver, List<Integer> sizes) {
        await().atMost(PATIENCE).until(() -> {
            receiver.endpoint().pollMessages(sizes.size() - receiver.received().size());
            return receiver.received().size() == sizes.size();
        });
        assertThat(receiver.received()).extracting(each -> each.bytes().size()).isEqualTo(sizes);
        receiver.received().clear();
    }

    @Test
    void shouldHaveItsWholeWindowAgainAfterEachBreak() throws IOException {
        try (FakeReceiver receiver = new FakeReceiver();
                LandingFabric fabric =
                        TcpTransport.open(Loopback.settings(new AtomicReference<>(receiver.address()), with -> {
                            small(with);
                            Loopback.atLoop(with, new ManualClock());
                        }))) {
            final TestServer sender = TestServer.open(fabric, 2, 1, 4096);
            for (int breaks = 0; breaks < 2 * MOST; breaks++) {
                final CompletableFuture<FakeReceiver.Connection> next =
                        CompletableFuture.supplyAsync(() -> accept(receiver), task -> new Thread(task).start());
                // Posts before the break is noticed are lost; those that do not fit then have room later.
                await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> {
                    assertThat(sender.endpoint().message(1, ByteBuffer.allocate(LONGEST)))
                            .isIn(PostStatus.POSTED, PostStatus.QUEUE_FULL);
                    return next.isDone();
                });
                try (FakeReceiver.Connection link = next.join()) {
                    link.hello();
                    link.welcome();
                    assertThat(link.readFrame()).isEqualTo(PeerFrameDescriptor.MESSAGE);
                }
            }
        }
    }

    private static FakeReceiver.Connection accept(FakeReceiver receiver) {
        try {
            return receiver.accept();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
