package org.rowankv.rdma.landing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.landing.wire.PeerFrameDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.rdma.landing.wire.RefusalStatus;

/** Peers with well-formed handshakes that claim to be another server. */
final class PeerAdmissionTest {
    private static final int SEGMENT = 4096;
    private static final long NONCE = 99;

    private LandingFabric fabric;
    private TestServer receiver;
    private InetSocketAddress address;

    @BeforeEach
    void open() {
        fabric = Loopback.fabric();
        address = fabric.listenAddress();
        receiver = TestServer.open(fabric, 1, 8, SEGMENT);
        receiver.postAll();
    }

    @AfterEach
    void close() {
        fabric.close();
    }

    private Reason refusal(PeerHello hello) throws IOException {
        try (RawPeer peer = new RawPeer(address)) {
            final RawPeer.Answer answer = peer.greet(hello);
            assertThat(answer.status()).as("%s was welcomed", hello).isNotZero();
            return RefusalStatus.reasonOf(answer.status());
        }
    }

    @Test
    void shouldRefuseAPeerThatClaimsToBeThisServer() throws IOException {
        assertThat(refusal(RawPeer.hello(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 1, 1, 1, NONCE)))
                .isEqualTo(Reason.NOT_ADMITTED);
        assertThat(refusal(RawPeer.hello(PeerHandshakeDescriptor.KIND_MESSAGES, 1, 1, 0, NONCE)))
                .isEqualTo(Reason.NOT_ADMITTED);
    }

    @Test
    void shouldRefuseAMessageLinkOfAServerThatIsNotAdmitted() throws IOException {
        receiver.view().exclude(2);
        assertThat(refusal(RawPeer.hello(PeerHandshakeDescriptor.KIND_MESSAGES, 2, 1, 0, NONCE)))
                .isEqualTo(Reason.NOT_ADMITTED);
    }

    @Test
    void shouldAdmitTheGenuineServerOnceAnImpostorIsGone() throws IOException {
        RawPeer.queuePair(address, 1, NONCE + 1).close();
        await().until(() -> fabric.acceptedConnections() == 0);
        try (RawPeer genuine = new RawPeer(address)) {
            final RawPeer.Answer answer =
                    genuine.greet(RawPeer.hello(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, 1, NONCE));
            assertThat(answer.status()).as(answer.text()).isZero();
        }
    }

    /** Without a secret: incarnation and term can be predicted, the process nonce cannot. */
    @Test
    void shouldRefuseAPredictedIncarnationWithoutTheRegisteredNonce() throws IOException {
        receiver.view().announce(2, NONCE);
        for (int kind = PeerHandshakeDescriptor.KIND_QUEUE_PAIR;
                kind <= PeerHandshakeDescriptor.KIND_MESSAGES;
                kind++) {
            assertThat(refusal(RawPeer.hello(kind, 2, 1, 1, NONCE + 1))).isEqualTo(Reason.NOT_ADMITTED);
            try (RawPeer genuine = new RawPeer(address)) {
                assertThat(genuine.greet(RawPeer.hello(kind, 2, 1, 1, NONCE)).status())
                        .isZero();
            }
        }
        assertThat(fabric.faults(WireFault.NO_MEMBER)).isEqualTo(2);
        assertThat(fabric.faults(WireFault.IMPOSTOR)).isZero();
    }

    @Test
    void shouldRefuseNumbersOfNoServer() throws IOException {
        for (int from : new int[] {-1, Integer.MIN_VALUE}) {
            assertThat(refusal(RawPeer.hello(PeerHandshakeDescriptor.KIND_MESSAGES, from, 1, 0, NONCE)))
                    .isEqualTo(Reason.NOT_ADMITTED);
        }
    }

    @Test
    void shouldKeepTwoReceiversOfMessagesPerServerAtMost() throws IOException {
        for (int i = 0; i < 50; i++) {
            try (RawPeer peer = new RawPeer(address)) {
                assertThat(peer.greet(RawPeer.hello(PeerHandshakeDescriptor.KIND_MESSAGES, 2, 1, 0, NONCE))
                                .status())
                        .isZero();
                peer.send(peer.frame(PeerFrameDescriptor.MESSAGE, 0, 1, 0, 0));
            }
            assertThat(((LandingEndpoint) receiver.endpoint()).messageReceivers())
                    .isLessThanOrEqualTo(2);
        }
    }
}
