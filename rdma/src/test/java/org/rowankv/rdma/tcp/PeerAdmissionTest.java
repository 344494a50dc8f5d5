package org.rowankv.rdma.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.tcp.wire.HelloDescriptor;
import org.rowankv.rdma.tcp.wire.HelloDescriptor.Hello;
import org.rowankv.rdma.tcp.wire.HelloDescriptor.Welcome;
import org.rowankv.rdma.tcp.wire.Refusals;
import org.rowankv.rdma.tcp.wire.WireDescriptor;
import org.rowankv.rdma.tcp.wire.WireFault;

/** Peers whose bytes are well-formed, and whose words are lies. */
final class PeerAdmissionTest {
    private static final int SEGMENT = 4096;
    private static final long NONCE = 99;

    private TcpFabric fabric;
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

    private Reason refusal(Hello hello) throws IOException {
        try (RawPeer peer = new RawPeer(address)) {
            final Welcome answer = peer.greet(hello);
            assertThat(answer.status()).as("%s was welcomed", hello).isNotZero();
            return Refusals.reasonOf(answer.status());
        }
    }

    @Test
    void shouldRefuseAPeerThatSaysThatItIsThisServer() throws IOException {
        assertThat(refusal(RawPeer.hello(HelloDescriptor.KIND_QUEUE_PAIR, 1, 1, 1, NONCE)))
                .isEqualTo(Reason.NOT_ADMITTED);
        assertThat(refusal(RawPeer.hello(HelloDescriptor.KIND_MESSAGES, 1, 1, 0, NONCE)))
                .isEqualTo(Reason.NOT_ADMITTED);
    }

    @Test
    void shouldRefuseAMessageLinkOfAServerThatIsNotAdmitted() throws IOException {
        receiver.view().exclude(2);
        assertThat(refusal(RawPeer.hello(HelloDescriptor.KIND_MESSAGES, 2, 1, 0, NONCE)))
                .isEqualTo(Reason.NOT_ADMITTED);
    }

    @Test
    void shouldAdmitTheGenuineServerOnceALiarThatCameFirstIsGone() throws IOException {
        RawPeer.queuePair(address, 1, NONCE + 1).close();
        await().until(() -> fabric.acceptedConnections() == 0);
        try (RawPeer genuine = new RawPeer(address)) {
            final Welcome answer = genuine.greet(RawPeer.hello(HelloDescriptor.KIND_QUEUE_PAIR, 2, 1, 1, NONCE));
            assertThat(answer.status()).as(answer.text()).isZero();
        }
    }

    /** Without a secret: incarnation and term can be predicted, the process nonce cannot. */
    @Test
    void shouldRefuseAPredictedIncarnationWithoutTheNonceThatWasAnnounced() throws IOException {
        receiver.view().announce(2, NONCE);
        for (int kind = HelloDescriptor.KIND_QUEUE_PAIR; kind <= HelloDescriptor.KIND_MESSAGES; kind++) {
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
            assertThat(refusal(RawPeer.hello(HelloDescriptor.KIND_MESSAGES, from, 1, 0, NONCE)))
                    .isEqualTo(Reason.NOT_ADMITTED);
        }
    }

    @Test
    void shouldKeepTwoReceiversOfMessagesPerServerAtMost() throws IOException {
        for (int i = 0; i < 50; i++) {
            try (RawPeer peer = new RawPeer(address)) {
                assertThat(peer.greet(RawPeer.hello(HelloDescriptor.KIND_MESSAGES, 2, 1, 0, NONCE))
                                .status())
                        .isZero();
                peer.send(peer.frame(WireDescriptor.MESSAGE, 0, 1, 0, 0));
            }
            assertThat(((TcpEndpoint) receiver.endpoint()).messageReceivers()).isLessThanOrEqualTo(2);
        }
    }
}
