package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.protocol.wire.RequestDescriptor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.Routing;
import org.rowankv.topology.ShardAssignment;
import org.rowankv.topology.ShardMap;

/** Loop memory that a client held, or waited for, is free for the next client after its connection ends. */
final class FrameRoomEndTest {
    private static final int SHARDS = 8;
    private static final int SEED = 8;
    /** Less than two of the long frames: one at a time holds a reservation. */
    private static final int BUDGET = 1_900_000;

    private static final int LONG = 1_000_000;
    private static final byte[] KEY = {1, 2, 3};

    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private final ErrorLog errors = new ErrorLog(clock);
    private final List<RawClient> clients = new ArrayList<>();
    private ClientPort port;
    private long term;

    @BeforeEach
    void open() throws IOException {
        port = ClientPort.bind(
                new AnsweringServer(10),
                new OneCache(),
                ClientPortSettings.at("127.0.0.1", 0, with -> {
                    with.loops = 1;
                    with.maxHeldBytes = BUDGET;
                }),
                clock,
                errors);
        port.serve(routing());
    }

    /** Of the next term. */
    private Routing routing() {
        term++;
        return new Routing(
                new Configuration(
                        7, SEED, term, List.of(1L), Collections.nCopies(SHARDS, new ShardAssignment(1, 0, new int[0]))),
                List.of("127.0.0.1:" + port.address().getPort()));
    }

    @AfterEach
    void close() throws IOException {
        for (RawClient each : clients) {
            each.close();
        }
        awaitThat(() -> port.connections() == 0 && port.counts().heldBytes() == 0);
        port.close();
        assertThat(errors.distinct()).isEmpty();
    }

    private RawClient client() throws Exception {
        final RawClient client = new RawClient(port, 4 << 10);
        clients.add(client);
        return client.welcomed();
    }

    private static void awaitThat(Callable<Boolean> condition) {
        await().atMost(30, TimeUnit.SECONDS).until(condition);
    }

    private static byte[] written(Request request, long number) {
        final long hash = new KeyHash(SEED).hash(1, KEY, 0, KEY.length);
        request.placed(hash, ShardMap.shardOf(hash, SHARDS));
        final FrameEncoder out = new FrameEncoder(64);
        RequestDescriptor.write(out, request, number << 16, 1);
        return RawClient.written(out);
    }

    private static byte[] put() {
        final Request put = new Request().put(1, KEY, 0, KEY.length, new byte[LONG], 0, LONG);
        put.identified(5, 1, 0);
        return written(put, 1);
    }

    private static ByteBuffer heardAnswer(RawClient client) throws IOException {
        ByteBuffer frame = client.heardFrame();
        while (FrameHeadDescriptor.type(frame, 0) != ClientFrameDescriptor.ANSWER) {
            frame = client.heardFrame();
        }
        return frame;
    }

    /** A client with an incomplete long frame that holds the reservation. */
    private RawClient begun() throws Exception {
        final RawClient client = client().say(Arrays.copyOf(put(), LONG / 2));
        awaitThat(() -> port.counts().heldBytes() > LONG * 9 / 10);
        return client;
    }

    private void requireRoomForTheNext() throws Exception {
        for (int i = 0; i < 2; i++) {
            final RawClient next = client();
            next.say(put());
            assertThat(heardAnswer(next)).isNotNull();
        }
    }

    @Test
    void shouldGiveTheRoomOfAClientThatIsGoneToTheNext() throws Exception {
        begun().close();
        requireRoomForTheNext();
    }

    /** It is not read while it waits: the server detects the closed connection at its next write. */
    @Test
    void shouldGiveNoRoomToAClientThatIsGoneWhileItWaited() throws Exception {
        final RawClient first = begun();
        final RawClient waiting = client();
        waiting.say(Arrays.copyOf(put(), 150_000));
        awaitThat(() -> port.counts().frameWaits() == 1);
        waiting.close();
        awaitThat(() -> {
            port.publish(routing());
            return port.connections() == 1;
        });
        final byte[] put = put();
        first.say(Arrays.copyOfRange(put, LONG / 2, put.length));
        assertThat(heardAnswer(first)).isNotNull();
        requireRoomForTheNext();
    }
}
