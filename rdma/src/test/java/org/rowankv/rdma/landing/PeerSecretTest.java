package org.rowankv.rdma.landing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.landing.wire.HandshakeProof;
import org.rowankv.rdma.landing.wire.PeerAuthentication;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.rdma.landing.wire.RefusalStatus;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.rdma.tcp.TcpTransport;
import org.rowankv.runtime.SecureSeed;

/** A peer with the cluster's secret is admitted; no other is, whatever it knows, records or replays. */
final class PeerSecretTest {
    private static final int SEGMENT = 4096;
    private static final long NONCE = 99;
    private static final PeerAuthentication BY_SECRET = PeerAuthentication.of(RawPeer.SECRET, SecureSeed::next);
    private static final PeerAuthentication BY_ANOTHER =
            PeerAuthentication.of(ClusterSecret.of("the test", "another secret of some length"), SecureSeed::next);

    private final List<AutoCloseable> open = new ArrayList<>();
    private LandingFabric fabric;
    private TestServer receiver;
    private InetSocketAddress address;

    @BeforeEach
    void open() {
        begin(BY_SECRET);
    }

    private void begin(PeerAuthentication authentication) {
        fabric = Loopback.fabric(with -> with.authentication = authentication);
        open.add(fabric);
        address = fabric.listenAddress();
        receiver = TestServer.open(fabric, 1, 8, SEGMENT);
        receiver.postAll();
    }

    @AfterEach
    void close() throws Exception {
        for (final AutoCloseable each : open) {
            each.close();
        }
    }

    /** Server 2 in a process of its own. */
    private TestServer caller(InetSocketAddress of, PeerAuthentication authentication) {
        final LandingFabric own = TcpTransport.open(
                Loopback.settings(new AtomicReference<>(of), with -> with.authentication = authentication));
        open.add(own);
        return TestServer.open(own, 2, 1, SEGMENT);
    }

    private static Reason reasonOf(RawPeer.Answer answer) {
        assertThat(answer.status()).as("it was welcomed").isNotZero();
        return RefusalStatus.reasonOf(answer.status());
    }

    // --- peers with the secret ---

    @ParameterizedTest
    @ValueSource(ints = {PeerHandshakeDescriptor.KIND_QUEUE_PAIR, PeerHandshakeDescriptor.KIND_MESSAGES})
    void shouldWelcomeAPeerThatProvesTheSecretAndProveItInReturn(int kind) throws IOException {
        try (RawPeer peer = new RawPeer(address)) {
            final HandshakeProof proof = peer.challenged(RawPeer.proving(kind, 2, 1, 1, NONCE));
            peer.send(RawPeer.proofBytes(proof.ofCaller()));
            assertThat(peer.welcomeWith(proof).status()).isZero();
        }
    }

    @Test
    void shouldConnectServersThatHoldTheSameSecret() {
        final TestServer caller = caller(address, BY_SECRET);
        try (QueuePair pair = caller.connectTo(receiver)) {
            assertThat(pair.isFenced()).isFalse();
        }
        await().until(() -> caller.endpoint().message(1, ByteBuffer.wrap(new byte[] {7})) == PostStatus.POSTED);
        await().until(() -> receiver.endpoint().pollMessages(1) == 1);
        assertThat(receiver.received().get(0).from()).isEqualTo(2);
    }

    @Test
    void shouldRefuseAfterTheProofWithItsMac() throws IOException {
        receiver.view().exclude(2);
        try (RawPeer peer = new RawPeer(address)) {
            final HandshakeProof proof =
                    peer.challenged(RawPeer.proving(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, 1, NONCE));
            peer.send(RawPeer.proofBytes(proof.ofCaller()));
            assertThat(reasonOf(peer.welcomeWith(proof))).isEqualTo(Reason.NOT_ADMITTED);
        }
    }

    // --- another secret, or none ---

    @Test
    void shouldConnectNeitherWayWithAnotherSecret() {
        assertThatThrownBy(() -> caller(address, BY_ANOTHER).connectTo(receiver))
                .isInstanceOfSatisfying(
                        FabricException.class, e -> assertThat(e.reason()).isEqualTo(Reason.UNPROVEN))
                .hasMessageContaining("another secret");
        assertThat(fabric.faults(WireFault.UNPROVEN)).isEqualTo(1);
    }

    @Test
    void shouldExplainWhatToDoWhenOneEndHasNoSecret() {
        assertThatThrownBy(() -> caller(address, PeerAuthentication.none()).connectTo(receiver))
                .isInstanceOf(FabricException.class)
                .hasMessageContaining("asks for the cluster's secret")
                .hasMessageContaining("--cluster-secret-file");
        begin(PeerAuthentication.none());
        assertThatThrownBy(() -> caller(address, BY_SECRET).connectTo(receiver))
                .isInstanceOf(FabricException.class)
                .hasMessageContaining("this server has none")
                .hasMessageContaining("--cluster-secret-file");
        assertThat(fabric.faults(WireFault.OTHER_METHOD)).isEqualTo(1);
    }

    @Test
    void shouldRefuseUnknownMethods() throws IOException {
        final byte[] hello;
        try (RawPeer peer = new RawPeer(address)) {
            hello = RawPeer.proving(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, 1, NONCE);
            hello[PeerHandshakeDescriptor.METHOD_OFFSET] = 2;
            peer.send(RawPeer.sealed(hello));
            final RawPeer.Answer answer = peer.welcome();
            assertThat(reasonOf(answer)).isEqualTo(Reason.UNPROVEN);
            assertThat(answer.text()).contains("method 2");
        }
    }

    // --- forged, but well-formed ---

    @Test
    void shouldRefuseADowngrade() throws IOException {
        for (int kind = PeerHandshakeDescriptor.KIND_QUEUE_PAIR;
                kind <= PeerHandshakeDescriptor.KIND_MESSAGES;
                kind++) {
            try (RawPeer peer = new RawPeer(address)) {
                assertThat(reasonOf(peer.greet(RawPeer.hello(kind, 2, 1, 1, NONCE))))
                        .isEqualTo(Reason.UNPROVEN);
            }
        }
        assertThat(fabric.faults(WireFault.OTHER_METHOD)).isEqualTo(2);
    }

    @Test
    void shouldRefuseAReplayedHelloAndProof() throws IOException {
        final byte[] hello = RawPeer.proving(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, 1, NONCE);
        final byte[] recorded;
        try (RawPeer genuine = new RawPeer(address)) {
            recorded = genuine.challenged(hello).ofCaller();
            assertThat(genuine.prove(recorded).status()).isZero();
        }
        try (RawPeer again = new RawPeer(address)) {
            again.challenged(hello);
            assertThat(reasonOf(again.prove(recorded))).isEqualTo(Reason.UNPROVEN);
        }
        assertThat(fabric.faults(WireFault.UNPROVEN)).isEqualTo(1);
    }

    /** What the called end proves on one connection opens no other. */
    @Test
    void shouldRefuseTheCalledServersOwnMac() throws IOException {
        try (RawPeer peer = new RawPeer(address)) {
            final HandshakeProof proof =
                    peer.challenged(RawPeer.proving(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, 1, NONCE));
            final ByteBuffer welcome =
                    proof.sign(PeerHandshakeDescriptor.welcome(new PeerWelcome(1, 1, 4096, SEGMENT, 8, 4096, 0)));
            final byte[] mac = new byte[HandshakeDescriptor.MAC_LENGTH];
            welcome.get(HandshakeDescriptor.MAC_OFFSET, mac);
            assertThat(reasonOf(peer.prove(mac))).isEqualTo(Reason.UNPROVEN);
        }
    }

    /** A proof covers every byte of the hello: kind, both servers, incarnations, term, nonces, queue pair. */
    @ParameterizedTest
    @ValueSource(
            ints = {
                PeerHandshakeDescriptor.KIND_OFFSET,
                PeerHandshakeDescriptor.CLUSTER_OFFSET,
                PeerHandshakeDescriptor.FROM_OFFSET,
                PeerHandshakeDescriptor.TO_OFFSET,
                PeerHandshakeDescriptor.INCARNATION_OFFSET,
                PeerHandshakeDescriptor.EXPECTED_OFFSET,
                PeerHandshakeDescriptor.TERM_OFFSET,
                PeerHandshakeDescriptor.NONCE_OFFSET,
                PeerHandshakeDescriptor.PAIR_OFFSET,
                PeerHandshakeDescriptor.MAX_MESSAGE_OFFSET,
                PeerHandshakeDescriptor.FRESH_OFFSET,
                PeerHandshakeDescriptor.FRESH_OFFSET + 15
            })
    void shouldRefuseTheProofOfAnotherHello(int at) throws IOException {
        final byte[] proved = RawPeer.proving(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, 2, NONCE);
        try (RawPeer peer = new RawPeer(address)) {
            final byte[] sent = proved.clone();
            sent[at] = (byte) (sent[at] ^ (at == PeerHandshakeDescriptor.KIND_OFFSET ? 3 : 1));
            peer.send(RawPeer.sealed(sent));
            final byte[] mac = RawPeer.proofOf(proved, peer.challengeFrame()).ofCaller();
            assertThat(reasonOf(peer.prove(mac))).isEqualTo(Reason.UNPROVEN);
        }
    }

    @Test
    void shouldAdmitTheGenuineServerAfterImpostors() throws IOException {
        for (int i = 0; i < 3; i++) {
            try (RawPeer impostor = new RawPeer(address)) {
                impostor.challenged(RawPeer.proving(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, 1, NONCE + 1));
                assertThat(reasonOf(impostor.prove(new byte[HandshakeDescriptor.MAC_LENGTH])))
                        .isEqualTo(Reason.UNPROVEN);
            }
        }
        try (RawPeer genuine = new RawPeer(address)) {
            assertThat(genuine.greetWithSecret(RawPeer.proving(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, 1, NONCE))
                            .status())
                    .isZero();
        }
    }

    @Test
    void shouldRefuseItselfAlsoIfProved() throws IOException {
        try (RawPeer mirror = new RawPeer(address)) {
            assertThat(reasonOf(mirror.greetWithSecret(
                            RawPeer.proving(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 1, 1, 1, NONCE))))
                    .isEqualTo(Reason.NOT_ADMITTED);
        }
    }

    @Test
    void shouldRevealNothingBeforeTheProof() throws IOException {
        try (RawPeer peer = new RawPeer(address)) {
            final HandshakeProof unused =
                    peer.challenged(RawPeer.proving(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 40, 1, NONCE));
            assertThat(reasonOf(peer.prove(new byte[HandshakeDescriptor.MAC_LENGTH])))
                    .isEqualTo(Reason.UNPROVEN);
            assertThat(unused).isNotNull();
        }
        try (RawPeer peer = new RawPeer(address)) {
            assertThat(reasonOf(peer.greetWithSecret(
                            RawPeer.proving(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 40, 1, NONCE))))
                    .isEqualTo(Reason.UNKNOWN_PEER);
        }
    }

    /** A refusal has a reason but no MAC, which would show a caller without the secret that this server belongs to the cluster. */
    @Test
    void shouldProveNothingToACallerThatHasProvedNothing() throws IOException {
        try (RawPeer peer = new RawPeer(address)) {
            final HandshakeProof proof =
                    peer.challenged(RawPeer.proving(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, 1, NONCE));
            peer.send(RawPeer.proofBytes(new byte[HandshakeDescriptor.MAC_LENGTH]));
            assertThatThrownBy(() -> peer.welcomeWith(proof)).hasMessageContaining("has no MAC");
        }
    }

    @Test
    void shouldEndAHandshakeWithBytesAfterTheProof() throws IOException {
        try (RawPeer peer = new RawPeer(address)) {
            peer.challenged(RawPeer.proving(PeerHandshakeDescriptor.KIND_QUEUE_PAIR, 2, 1, 1, NONCE));
            final byte[] proof = RawPeer.proofBytes(new byte[HandshakeDescriptor.MAC_LENGTH]);
            peer.send(java.util.Arrays.copyOf(proof, proof.length + 1));
            assertThat(peer.awaitEnd()).isZero();
        }
        await().until(() -> fabric.faults(WireFault.BAD_FRAME) == 1);
    }

    // --- called servers ---

    private Reason refusalOf(FakeCalled called) throws IOException {
        try (FakeReceiver receiver = new FakeReceiver()) {
            final TestServer caller = caller(receiver.address(), BY_SECRET);
            final CompletableFuture<QueuePair> pair = caller.endpoint().connectAsync(1, 1, 1);
            try (FakeReceiver.Connection connection = receiver.accept()) {
                called.answer(connection);
                final Throwable failure =
                        pair.handle((opened, refusal) -> refusal).join();
                assertThat(failure).isInstanceOf(FabricException.class);
                return ((FabricException) failure).reason();
            }
        }
    }

    private interface FakeCalled {
        void answer(FakeReceiver.Connection connection) throws IOException;
    }

    @Test
    void shouldNotBeWelcomedWithoutAChallenge() throws IOException {
        assertThat(refusalOf(connection -> {
                    connection.hello();
                    connection.welcome();
                }))
                .isEqualTo(Reason.UNPROVEN);
    }

    @Test
    void shouldNotBeWelcomedByItsOwnProof() throws IOException {
        assertThat(refusalOf(connection -> {
                    connection.hello();
                    connection.challenge();
                    connection.welcomeWith(connection.proof());
                }))
                .isEqualTo(Reason.UNPROVEN);
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                PeerHandshakeDescriptor.WELCOME_INCARNATION_OFFSET,
                PeerHandshakeDescriptor.WELCOME_TERM_OFFSET,
                PeerHandshakeDescriptor.SEGMENT_BASE_OFFSET,
                PeerHandshakeDescriptor.WELCOME_MAX_MESSAGE_OFFSET,
                PeerHandshakeDescriptor.FLAGS_OFFSET,
                HandshakeDescriptor.MAC_OFFSET
            })
    void shouldRefuseAForgedWelcome(int at) throws IOException {
        assertThat(refusalOf(connection -> {
                    final byte[] hello = connection.handshakeFrame();
                    final byte[] challenge = connection.challenge();
                    connection.proof();
                    connection.welcomeChanged(RawPeer.proofOf(hello, challenge), at);
                }))
                .isEqualTo(Reason.UNPROVEN);
    }

    @Test
    void shouldAcceptAGenuineWelcome() throws IOException {
        try (FakeReceiver receiver = new FakeReceiver()) {
            final CompletableFuture<QueuePair> pair =
                    caller(receiver.address(), BY_SECRET).endpoint().connectAsync(1, 1, 1);
            try (FakeReceiver.Connection connection = receiver.accept()) {
                final byte[] hello = connection.handshakeFrame();
                final byte[] challenge = connection.challenge();
                connection.proof();
                connection.welcomeChanged(RawPeer.proofOf(hello, challenge), -1);
                pair.join().close();
            }
        }
    }

    @Test
    void shouldNotAnswerAChallengeThatItsMethodDoesNotHave() throws IOException {
        try (FakeReceiver receiver = new FakeReceiver()) {
            final TestServer caller = caller(receiver.address(), PeerAuthentication.none());
            final CompletableFuture<QueuePair> pair = caller.endpoint().connectAsync(1, 1, 1);
            try (FakeReceiver.Connection connection = receiver.accept()) {
                connection.hello();
                connection.challenge();
                assertThatThrownBy(pair::join).hasRootCauseInstanceOf(FabricException.class);
            }
        }
    }

    @Test
    void shouldRevealNothingOfTheSecret() {
        assertThat(Loopback.settings(new AtomicReference<>(address), with -> with.authentication = BY_SECRET)
                        .toString())
                .contains("authentication=secret")
                .doesNotContain("0123456789abcdef");
        assertThat(RawPeer.SECRET).hasToString("ClusterSecret");
    }
}
