package org.rowankv.rdma.landing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.rdma.tcp.TcpTransport;
import org.rowankv.runtime.ManualClock;

/** The credit of a dead queue pair returns to its receiver, whatever else breaks. */
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class SettlementTest {
    private static final long NONCE = 77;
    private static final long PAIR = 1;

    private final ManualClock clock = new ManualClock();

    private static FakeReceiver.Connection acceptLink(FakeReceiver receiver) throws IOException {
        final FakeReceiver.Connection link = receiver.accept();
        assertThat(link.hello().kind()).isEqualTo(PeerHandshakeDescriptor.KIND_MESSAGES);
        link.welcome();
        return link;
    }

    private static int nextFrame(FakeReceiver.Connection connection) throws IOException {
        int type = connection.readFrame();
        while (type == PeerFrameDescriptor.PING) {
            type = connection.readFrame();
        }
        return type;
    }

    /** A queue pair that has acquired 100 bytes and used them, and is closed. */
    private static void drawAndClose(TestServer sender, FakeReceiver receiver) throws IOException {
        final CompletableFuture<QueuePair> opening = sender.endpoint().connectAsync(1, 1, 1);
        try (FakeReceiver.Connection connection = receiver.accept()) {
            connection.hello();
            connection.welcome();
            final QueuePair pair = opening.join();
            assertThat(pair.acquireCredit(100)).isZero();
            assertThat(nextFrame(connection)).isEqualTo(PeerFrameDescriptor.CREDIT_REQUEST);
            connection.frame(PeerFrameDescriptor.ACK, 0, 0, 100, 100);
            long drawn = 0;
            while (drawn < 100) {
                drawn += pair.acquireCredit(100 - drawn);
                Thread.onSpinWait();
            }
            pair.close();
        }
    }

    @Test
    void shouldRepeatASettlementUntilItIsConfirmed() throws IOException {
        try (FakeReceiver receiver = new FakeReceiver();
                LandingFabric fabric =
                        TcpTransport.open(Loopback.settings(new AtomicReference<>(receiver.address()), with -> {
                            Loopback.atLoop(with, clock);
                            with.retryMs = 1000;
                        }))) {
            final TestServer sender = TestServer.open(fabric, 2, 1, 4096);
            drawAndClose(sender, receiver);
            try (FakeReceiver.Connection first = acceptLink(receiver)) {
                assertThat(nextFrame(first)).isEqualTo(PeerFrameDescriptor.SETTLE);
            }
            // There is no message, and the settlement was not received.
            try (FakeReceiver.Connection second = acceptLink(receiver)) {
                assertThat(nextFrame(second)).isEqualTo(PeerFrameDescriptor.SETTLE);
                // The confirmation of an older settlement does not confirm this one.
                second.frame(PeerFrameDescriptor.SETTLED, 0, PAIR, 90, 0);
                second.finish();
            }
            try (FakeReceiver.Connection third = acceptLink(receiver)) {
                assertThat(nextFrame(third)).isEqualTo(PeerFrameDescriptor.SETTLE);
                third.frame(PeerFrameDescriptor.SETTLED, 0, PAIR, 100, 0);
                third.finish();
            }
            final CompletableFuture<FakeReceiver.Connection> next =
                    CompletableFuture.supplyAsync(() -> accept(receiver), task -> new Thread(task).start());
            while (!next.isDone()) {
                // Posts before the break of the third is noticed are lost with it.
                final int posted = sender.endpoint().message(1, ByteBuffer.allocate(8));
                assertThat(posted).isIn(PostStatus.POSTED, PostStatus.QUEUE_FULL);
            }
            try (FakeReceiver.Connection fourth = next.join()) {
                fourth.hello();
                fourth.welcome();
                assertThat(nextFrame(fourth)).isEqualTo(PeerFrameDescriptor.MESSAGE);
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

    private static void acquire(RawPeer pair, long bytes) throws IOException {
        pair.send(pair.frame(PeerFrameDescriptor.CREDIT_REQUEST, 0, 0, bytes, 0));
        RawPeer.Frame ack = pair.read();
        while (ack.second() < bytes) {
            ack = pair.read();
        }
    }

    /** A server is excluded, and its next process connects before all that landed is digested. */
    @Test
    void shouldKeepTheCreditOfAProcessUntilItIsTaken() throws IOException {
        try (LandingFabric fabric = Loopback.fabric()) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, 4096);
            receiver.credit().set(100);
            final InetSocketAddress address = fabric.listenAddress();
            try (RawPeer pair = RawPeer.queuePair(address, PAIR, NONCE)) {
                acquire(pair, 60);
            }
            try (RawPeer next = new RawPeer(address)) {
                final PeerHello former = RawPeer.hello(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, PAIR, NONCE);
                assertThat(next.greet(new PeerHello(
                                        former.kind(),
                                        former.cluster(),
                                        2,
                                        1,
                                        former.incarnation() + 1,
                                        former.expected(),
                                        former.term(),
                                        NONCE + 1,
                                        PAIR,
                                        former.maxMessage(),
                                        former.live()))
                                .status())
                        .isZero();
                assertThat(receiver.endpoint().takeCredit(2, former.incarnation() + 1))
                        .isZero();
                assertThat(receiver.endpoint().takeCredit(2, former.incarnation()))
                        .isEqualTo(60);
                assertThat(receiver.endpoint().takeCredit(2, former.incarnation()))
                        .isZero();
            }
        }
    }

    @Test
    void shouldReturnCreditOnceHoweverOftenItIsSettled() throws IOException {
        try (LandingFabric fabric = Loopback.fabric()) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, 4096);
            receiver.credit().set(100);
            final InetSocketAddress address = fabric.listenAddress();
            try (RawPeer pair = RawPeer.queuePair(address, PAIR, NONCE)) {
                acquire(pair, 60);
                assertThat(receiver.credit()).hasValue(40);
            }
            for (int times = 0; times < 3; times++) {
                try (RawPeer link = new RawPeer(address)) {
                    assertThat(link.greet(RawPeer.hello(PeerHandshakeDescriptor.KIND_MESSAGES, 2, 1, 0, NONCE))
                                    .status())
                            .isZero();
                    // It never received ten, and returns thirty.
                    assertConfirmed(link, PAIR, 50, 30);
                    assertThat(receiver.credit()).hasValue(80);
                    // An unknown pair has nothing to return, and no reason for a repeat.
                    assertConfirmed(link, PAIR + 1, 50, 30);
                    assertThat(receiver.credit()).hasValue(80);
                }
            }
        }
    }

    /** The settlement may arrive before the end of the connection: then it ends the queue pair. */
    @Test
    void shouldEndAQueuePairThatIsSettledWhileItLives() throws IOException {
        try (LandingFabric fabric = Loopback.fabric()) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, 4096);
            receiver.postAll();
            receiver.credit().set(100);
            final InetSocketAddress address = fabric.listenAddress();
            try (RawPeer pair = RawPeer.queuePair(address, PAIR, NONCE);
                    RawPeer other = RawPeer.queuePair(address, PAIR + 1, NONCE, PAIR);
                    RawPeer link = new RawPeer(address)) {
                acquire(pair, 60);
                assertThat(link.greet(RawPeer.hello(PeerHandshakeDescriptor.KIND_MESSAGES, 2, 1, 0, NONCE))
                                .status())
                        .isZero();
                assertConfirmed(link, PAIR, 60, 30);
                assertThat(receiver.credit()).hasValue(70);
                // Its sender has sent the same through another queue pair.
                pair.send(pair.frame(PeerFrameDescriptor.CREDIT_REQUEST, 0, 0, 10, 0));
                pair.send(pair.sendFrame(1, 0, RawPeer.body(1, 100)));
                RawPeer.Frame last = pair.read();
                while (last.type() != PeerFrameDescriptor.FENCED && last.number() == 0) {
                    last = pair.read();
                }
                assertThat(last.type()).isEqualTo(PeerFrameDescriptor.FENCED);
                assertThat(last.number()).isZero();
                other.send(other.sendFrame(1, 0, RawPeer.body(2, 100)));
                other.awaitAck(1);
                assertThat(receiver.landed(0)).extracting(Landed::id).containsExactly(2L);
                assertThat(receiver.credit()).hasValue(70);
            }
        }
    }

    private static void assertConfirmed(RawPeer link, long pair, long receivedCredit, long returnedCredit)
            throws IOException {
        link.send(link.frame(PeerFrameDescriptor.SETTLE, 0, pair, receivedCredit, returnedCredit));
        RawPeer.Frame answer = link.read();
        while (answer.type() != PeerFrameDescriptor.SETTLED) {
            answer = link.read();
        }
        assertThat(answer.number()).isEqualTo(pair);
        assertThat(answer.first()).isEqualTo(receivedCredit);
        assertThat(answer.second()).isEqualTo(returnedCredit);
    }
}
