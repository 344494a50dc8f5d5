package org.rowankv.server.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor.ClientHello;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.protocol.wire.RequestDescriptor;
import org.rowankv.runtime.concurrent.LatencyHistogram;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.frontend.PortCounters;

/** Malformed input costs at most its own connection: it is counted, and all other clients are served. */
@Tag("jvm")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ClientPortTest {
    private static final int MAX_FRAME = 1 << 20;

    private EmbeddedCluster cluster;
    private EmbeddedPorts ports;
    private ClientPort port;
    private RowanClient client;
    private int cache;

    private void open(ClientPortSettings settings) {
        cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = 1;
            with.shards = 4;
        }));
        ports = EmbeddedPorts.open(cluster, settings);
        port = ports.ports().get(0);
    }

    private static ClientPortSettings settings(Consumer<ClientPortSettings.Builder> change) {
        return ClientPortSettings.at("127.0.0.1", 0, with -> {
            with.maxConnections = 8;
            with.maxInFlight = 16;
            with.maxFrame = MAX_FRAME;
            change.accept(with);
        });
    }

    @BeforeEach
    void open() {
        open(settings(usual -> {}));
        connect();
    }

    private void connect() {
        client = RowanClient.connect(ports.addresses(), NetSettings.DEFAULT.withConnections(1, 64));
        cache = client.catalogue().create("c", new byte[0]).id();
    }

    @AfterEach
    void close() {
        client.put(cache, bytes("last"), bytes("v"));
        assertThat(client.get(cache, bytes("last"))).isEqualTo(bytes("v"));
        assertThat(cluster.errors().distinct()).isEmpty();
        client.close();
        ports.close();
        cluster.close();
    }

    private void requireFault(WireFault fault) {
        await().atMost(30, TimeUnit.SECONDS).until(() -> port.faults(fault) == 1);
    }

    @Test
    void shouldCloseTheConnectionOfAnotherProtocol() throws Exception {
        try (RawClient raw = new RawClient(port)) {
            raw.say("GET / HTTP/1.1\r\nHost: here\r\n\r\n".getBytes(UTF_8)).awaitEnd();
        }
        requireFault(WireFault.FOREIGN_PROTOCOL);
    }

    @Test
    void shouldTellAnotherVersionWhichOneItSpeaks() throws Exception {
        final byte[] hello =
                ClientHandshakeDescriptor.hello(new ClientHello(0, MAX_FRAME)).array();
        hello[16] = 9;
        final java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
        crc.update(hello, 12, hello.length - 12);
        ByteBuffer.wrap(hello).order(ByteOrder.LITTLE_ENDIAN).putInt(8, (int) crc.getValue());
        try (RawClient raw = new RawClient(port)) {
            raw.say(hello);
            final RawClient.Refusal refusal = raw.heardRefusal();
            assertThat(refusal.status()).isEqualTo(HandshakeDescriptor.REFUSED_VERSION);
            assertThat(refusal.text()).contains("version 9", "this server speaks version 3");
            raw.awaitEnd();
        }
        requireFault(WireFault.OTHER_VERSION);
    }

    /** As in the first version of this protocol. */
    @Test
    void shouldTellAClientOfVersion1WhichReleaseToUse() throws Exception {
        final byte[] hello = HexFormat.of()
                .parseHex("526f77616e436c69" + "f094b858" + "28000000" + "01000000" + "00000000" + "0000000000000000"
                        + "00008000" + "00000000");
        try (RawClient raw = new RawClient(port)) {
            raw.say(hello);
            final RawClient.Refusal refusal = raw.heardRefusal();
            assertThat(refusal.status()).isEqualTo(HandshakeDescriptor.REFUSED_VERSION);
            assertThat(refusal.text())
                    .endsWith("the client speaks version 1, this server speaks version 3;"
                            + " use a client and a server of the same release");
            raw.awaitEnd();
        }
        requireFault(WireFault.OTHER_VERSION);
    }

    @Test
    void shouldTellAServerThatThisIsThePortForClients() throws Exception {
        final byte[] hello = HandshakeDescriptor.seal(HandshakeDescriptor.frame(WirePort.PEERS, 112, 1))
                .array();
        try (RawClient raw = new RawClient(port)) {
            raw.say(hello);
            final RawClient.Refusal refusal = raw.heardRefusal(WirePort.PEERS);
            assertThat(refusal.status()).isEqualTo(HandshakeDescriptor.REFUSED_PORT);
            assertThat(refusal.text()).contains("the port for clients (--listen)", "--peer-listen");
            raw.awaitEnd();
        }
        requireFault(WireFault.OTHER_PORT);
    }

    @Test
    void shouldRefuseAClientOfAnotherCluster() throws Exception {
        try (RawClient raw = new RawClient(port)) {
            raw.hello(cluster.configuration().clusterId() + 1, MAX_FRAME);
            final RawClient.Refusal refusal = raw.heardRefusal();
            assertThat(refusal.status()).isEqualTo(HandshakeDescriptor.REFUSED_CLUSTER);
            assertThat(refusal.text())
                    .contains(Long.toHexString(cluster.configuration().clusterId() + 1));
            raw.awaitEnd();
        }
        requireFault(WireFault.OTHER_CLUSTER);
    }

    @Test
    void shouldRefuseAClientThatTakesNoFrameAsLongAsItsOwn() throws Exception {
        try (RawClient raw = new RawClient(port)) {
            raw.hello(0, MAX_FRAME - 1).awaitEnd();
        }
        requireFault(WireFault.BAD_LENGTH);
    }

    @Test
    void shouldRefuseConnectionsAboveTheBound() throws Exception {
        final java.util.ArrayList<RawClient> raws = new java.util.ArrayList<>();
        try {
            while (port.connections() < 8) {
                raws.add(new RawClient(port).welcomed());
            }
            try (RawClient raw = new RawClient(port)) {
                raw.hello(0, MAX_FRAME);
                final RawClient.Refusal refusal = raw.heardRefusal();
                assertThat(refusal.status()).isEqualTo(HandshakeDescriptor.REFUSED_FULL);
                assertThat(refusal.text()).contains("8 client connections");
            }
            requireFault(WireFault.TOO_MANY_CONNECTIONS);
        } finally {
            for (RawClient each : raws) {
                each.close();
            }
        }
    }

    @Test
    void shouldCutOffWhoDoesNotIntroduceItself() throws Exception {
        client.close();
        ports.close();
        cluster.close();
        // Long enough for the client of this test, which completes its handshake.
        open(settings(with -> with.handshakeNs = 5_000_000_000L));
        connect();
        try (RawClient raw = new RawClient(port)) {
            raw.say((byte) 'R').awaitEnd();
        }
        requireFault(WireFault.NO_HANDSHAKE);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 4, 6, 8, 9, 250})
    void shouldCloseTheConnectionThatSendsWhatNoClientSends(int type) throws Exception {
        try (RawClient raw = new RawClient(port)) {
            raw.welcomed().say(RawClient.frame(type, new byte[100])).awaitEnd();
        }
        requireFault(WireFault.BAD_FRAME);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 5, 7})
    void shouldCloseTheConnectionThatSendsAWrongBody(int type) throws Exception {
        try (RawClient raw = new RawClient(port)) {
            raw.welcomed().say(RawClient.frame(type, new byte[5])).awaitEnd();
        }
        requireFault(WireFault.BAD_FRAME);
    }

    @Test
    void shouldCloseTheConnectionOfAFrameThatIsTooLongOrTornOrDamaged() throws Exception {
        try (RawClient raw = new RawClient(port)) {
            // The server does not wait for the rest.
            raw.welcomed()
                    .say(java.util.Arrays.copyOf(
                            RawClient.frame(ClientFrameDescriptor.REQUEST, new byte[MAX_FRAME]), 100))
                    .awaitEnd();
        }
        requireFault(WireFault.BAD_LENGTH);
        try (RawClient raw = new RawClient(port)) {
            final byte[] damaged = RawClient.frame(ClientFrameDescriptor.ROUTING_REQUEST, new byte[0]);
            damaged[20] ^= 1;
            raw.welcomed().say(damaged).awaitEnd();
        }
        requireFault(WireFault.BAD_CHECKSUM);
        try (RawClient raw = new RawClient(port)) {
            raw.welcomed()
                    .say(java.util.Arrays.copyOf(RawClient.frame(ClientFrameDescriptor.REQUEST, new byte[300]), 200));
        }
        await().atMost(30, TimeUnit.SECONDS).until(() -> port.connections() == 1);
    }

    @Test
    void shouldLiveThroughNoise() throws Exception {
        final Random random = new Random(5);
        for (int i = 0; i < 200; i++) {
            final byte[] noise = new byte[1 + random.nextInt(2_000)];
            random.nextBytes(noise);
            try (RawClient raw = new RawClient(port)) {
                if (i % 2 == 0) {
                    raw.welcomed();
                }
                raw.say(noise);
            }
        }
        await().atMost(30, TimeUnit.SECONDS).until(() -> port.connections() == 1);
    }

    @Test
    void shouldCarryOutNothingThatMakesNoSense() throws Exception {
        client.put(cache, bytes("k"), bytes("v"));
        final byte[] key = bytes("k");
        final Request mutation = new Request().delete(cache, key, 0, 1);
        // Wrong shard, no session, an impossible sequence, and a CLEAR that is a destroy.
        for (int i = 0; i < 4; i++) {
            final FrameEncoder out = new FrameEncoder(64);
            final Request bad = i == 3 ? new Request().destroy(cache, 0) : mutation;
            bad.identified(i == 1 ? 0 : 5, i == 2 ? 0 : 1, 0);
            if (i < 3) {
                final long hash =
                        new org.rowankv.topology.KeyHash(cluster.configuration().hashSeed()).hash(cache, key, 0, 1);
                final int shard = org.rowankv.topology.ShardMap.shardOf(hash, 4);
                bad.placed(hash, i == 0 ? (shard + 1) % 4 : shard);
            }
            RequestDescriptor.write(out, bad, 1 << 16, cluster.configuration().term());
            try (RawClient raw = new RawClient(port)) {
                raw.welcomed().say(RawClient.written(out));
                final java.io.DataInputStream in = raw.input();
                assertThat(statusOfAnswer(in)).isEqualTo(Status.BAD_REQUEST);
            }
        }
        assertThat(client.get(cache, key)).isEqualTo(bytes("v"));
    }

    /** A server keeps arrays by cache id, and a shard's log keeps the id permanently. */
    @ParameterizedTest
    @ValueSource(ints = {1_000, 1 << 29, (1 << 30) - 1})
    void shouldRefuseCachesThatTheCatalogueNeverGave(int never) {
        final byte[] key = bytes("k");
        final Request request = new Request();
        client.execute(request.put(never, key, 0, 1, key, 0, 1));
        assertThat(request.status()).isEqualTo(Status.UNKNOWN_CACHE);
        client.execute(request.delete(never, key, 0, 1));
        assertThat(request.status()).isEqualTo(Status.UNKNOWN_CACHE);
        client.execute(request.clear(never, 0));
        assertThat(request.status()).isEqualTo(Status.UNKNOWN_CACHE);
        client.execute(request.get(never, key, 0, 1));
        assertThat(request.status()).isEqualTo(Status.UNKNOWN_CACHE);
        assertThat(cluster.servers().get(0).replicas().get(0).clears().forCheckpoint())
                .isEmpty();
    }

    /** Nor parts of such a cache; and what is no part of any is no request. */
    @ParameterizedTest
    @ValueSource(ints = {1 << 30, (1 << 30) + 1_000, Integer.MAX_VALUE})
    void shouldRefusePartsOfCachesThatTheCatalogueNeverGave(int never) {
        final byte[] key = new byte[16];
        final Request request = new Request();
        client.execute(request.put(never, key, 0, 16, key, 0, 1));
        assertThat(request.status()).isEqualTo(Status.UNKNOWN_CACHE);
        client.execute(request.put(never, key, 0, 1, key, 0, 1));
        assertThat(request.status()).isIn(Status.BAD_REQUEST, Status.UNKNOWN_CACHE);
        client.execute(request.clear(never, 0));
        assertThat(request.status()).isIn(Status.BAD_REQUEST, Status.UNKNOWN_CACHE);
        assertThat(cluster.servers().get(0).replicas().get(0).clears().forCheckpoint())
                .isEmpty();
        assertThat(cluster.servers().get(0).replicas().get(0).counts().parts()).isZero();
    }

    /** Created through no port: each of them resolves it by itself. */
    @Test
    void shouldServeACacheThatItHasNotHeardOf() {
        for (int i = 0; i < 70; i++) {
            final int other =
                    cluster.session().catalogue().create("c" + i, new byte[0]).id();
            client.put(other, bytes("k"), bytes("v" + i));
            assertThat(client.get(other, bytes("k"))).isEqualTo(bytes("v" + i));
        }
        cluster.session().catalogue().destroy("c5");
        assertThat(client.get(cache, bytes("k"))).isNull();
    }

    /** The first answer to a request, after unsolicited routings. */
    private static Status statusOfAnswer(java.io.DataInputStream in) throws IOException {
        while (true) {
            final byte[] head = new byte[FrameHeadDescriptor.HEAD_LENGTH];
            in.readFully(head);
            final ByteBuffer buffer = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN);
            in.readFully(new byte[buffer.getInt(4) - head.length]);
            if (FrameHeadDescriptor.type(buffer, 0) == ClientFrameDescriptor.ANSWER) {
                return Status.of(FrameHeadDescriptor.code(buffer, 0));
            }
        }
    }

    @Test
    void shouldCountWhatItAnswersAndHowLongThatTook() {
        final PortCounters counts = port.counts();
        final long putsBefore = counts.answered(Operation.PUT, Status.OK);
        final long sentBefore = counts.sentBytes();
        client.put(cache, bytes("k"), new byte[1_000]);
        for (int i = 0; i < 200; i++) {
            assertThat(client.get(cache, bytes("k"))).hasSize(1_000);
            assertThat(client.get(cache, bytes("none"))).isNull();
        }

        assertThat(counts.answered(Operation.GET, Status.OK)).isEqualTo(200);
        assertThat(counts.answered(Operation.GET, Status.NOT_FOUND)).isEqualTo(200);
        assertThat(counts.answered(Operation.PUT, Status.OK) - putsBefore).isEqualTo(1);
        assertThat(counts.requests()).isGreaterThanOrEqualTo(401);
        // A cycle counts its latency after writing the answers.
        await().atMost(60, TimeUnit.SECONDS).until(() -> durations(counts) == counts.requests());
        assertThat(counts.latencySumNs(Operation.GET)).isPositive();
        await().atMost(60, TimeUnit.SECONDS).until(() -> counts.sentBytes() - sentBefore > 200_000);
        assertThat(counts.receivedBytes()).isGreaterThan(1_000);
        assertThat(counts.connections()).isEqualTo(1);
        assertThat(counts.replayed()).isZero();
    }

    private static long durations(PortCounters counts) {
        long sum = 0;
        for (Operation operation : Operation.values()) {
            for (int bucket = 0; bucket < LatencyHistogram.buckets(); bucket++) {
                sum += counts.latencyCount(operation, bucket);
            }
        }
        return sum;
    }

    @Test
    void shouldServeWhoNeverReadsItsAnswersNoFurtherThanItMay() throws Exception {
        final byte[] value = new byte[100_000];
        client.put(cache, bytes("k"), value);
        final long before = port.requests();
        final byte[] key = bytes("k");
        final Request get = new Request().get(cache, key, 0, 1);
        final long hash =
                new org.rowankv.topology.KeyHash(cluster.configuration().hashSeed()).hash(cache, key, 0, 1);
        get.placed(hash, org.rowankv.topology.ShardMap.shardOf(hash, 4));
        try (RawClient raw = new RawClient(port)) {
            raw.welcomed();
            final FrameEncoder out = new FrameEncoder(64);
            final int asked = 5_000; // 500 MB together
            for (int i = 1; i <= asked; i++) {
                RequestDescriptor.write(
                        out, get, (long) i << 16, cluster.configuration().term());
            }
            raw.say(RawClient.written(out));
            await().atMost(30, TimeUnit.SECONDS).until(() -> port.requests() > before);
            for (int i = 0; i < 100; i++) {
                assertThat(client.get(cache, key)).isEqualTo(value);
            }
            assertThat(port.requests() - before).isLessThan(asked / 2);
        }
    }

    @Test
    void shouldSayWhyNoServerCanBeReached() {
        final String here = ports.addresses().get(0);
        assertThatThrownBy(() -> RowanClient.connect(List.of("localhost:1", "no.such.host.invalid:7")))
                .isInstanceOfSatisfying(
                        RowanException.class, e -> assertThat(e.status()).isEqualTo(Status.UNREACHABLE))
                .hasMessageContainingAll("localhost:1", "unknown host: no.such.host.invalid:7");
        for (String bad : List.of("here", "here:", "here:x", "here:0", "here:70000", "::1:7", ":7")) {
            assertThatThrownBy(() -> RowanClient.connect(List.of(bad)))
                    .as(bad)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(bad);
        }
        try (RowanClient other = RowanClient.connect(List.of("localhost:1", here))) {
            assertThat(other.get(cache, bytes("none"))).isNull();
        }
    }
}
