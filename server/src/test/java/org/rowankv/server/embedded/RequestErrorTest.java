package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.protocol.wire.RequestDescriptor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.dispatch.PollableCalls;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.Routing;
import org.rowankv.topology.ShardAssignment;
import org.rowankv.topology.ShardMap;

/** A request whose first step fails closes its client's connection, and affects no other client. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class RequestErrorTest {
    private static final int SHARDS = 8;
    private static final long SEED = 1;
    private static final byte[] KEY = {'k'};
    private static final int LONG = 100_000;

    private final ErrorLog errors = new ErrorLog(new ManualClock(1_000_000_000L, 1_700_000_000_000L));
    private final BrokenServer server = new BrokenServer();
    private ClientPort port;

    /** Refuses by an exception, like a store with a failed device. */
    private static final class BrokenServer extends AnsweringServer {
        volatile boolean broken;

        BrokenServer() {
            super(10);
        }

        @Override
        public PollableCalls calls(int loop, int loops) {
            final PollableCalls sound = super.calls(loop, loops);
            return request -> {
                final PollableCall call = sound.callOf(request);
                return new PollableCall() {
                    @Override
                    public void again() {
                        call.again();
                    }

                    @Override
                    public boolean step() {
                        if (broken) {
                            throw new IllegalStateException("the device failed");
                        }
                        return call.step();
                    }

                    @Override
                    public boolean awaitsWorker() {
                        return call.awaitsWorker();
                    }
                };
            };
        }
    }

    @BeforeEach
    void open() throws IOException {
        port = ClientPort.bind(
                server,
                new OneCache(),
                ClientPortSettings.at("127.0.0.1", 0, with -> with.loops = 1),
                new ManualClock(1_000_000_000L, 1_700_000_000_000L),
                errors);
        port.serve(new Routing(
                new Configuration(
                        7, SEED, 1, List.of(1L), Collections.nCopies(SHARDS, new ShardAssignment(0, 0, new int[0]))),
                List.of("127.0.0.1:" + port.address().getPort())));
    }

    @AfterEach
    void close() throws IOException {
        port.close();
    }

    private static byte[] put(int valueLength) {
        final FrameEncoder out = new FrameEncoder(64);
        final Request put = new Request().put(1, KEY, 0, KEY.length, new byte[valueLength], 0, valueLength);
        put.identified(5, 1, 0);
        final long hash = new KeyHash(SEED).hash(1, KEY, 0, KEY.length);
        put.placed(hash, ShardMap.shardOf(hash, SHARDS));
        RequestDescriptor.write(out, put, 1L << 16, 1);
        return RawClient.written(out);
    }

    private void answered() throws Exception {
        try (RawClient client = new RawClient(port).welcomed().say(put(10))) {
            while (FrameHeadDescriptor.type(client.heardFrame(), 0) != ClientFrameDescriptor.ANSWER) {
                // Earlier input is ignored.
            }
        }
    }

    private static void awaitThat(Callable<Boolean> condition) {
        await().atMost(30, TimeUnit.SECONDS).pollDelay(0, TimeUnit.MILLISECONDS).until(condition);
    }

    @Test
    void shouldGiveBackWhatTheRequestWasCharged() throws Exception {
        answered(); // resolves the cache
        awaitThat(() -> port.counts().connections() == 0);
        final long before = port.counts().heldBytes();
        server.broken = true;

        for (int i = 0; i < 10; i++) {
            try (RawClient client = new RawClient(port).welcomed().say(put(LONG))) {
                client.awaitEnd();
            }
        }

        awaitThat(() -> port.counts().connections() == 0);
        assertThat(port.counts().heldBytes()).isLessThanOrEqualTo(before);
        assertThat(errors.distinct()).isNotEmpty();
        server.broken = false;
        answered();
    }

    @Test
    void shouldEndTheConnectionOfARequestThatWaitedForItsCache() throws Exception {
        server.broken = true;

        try (RawClient client = new RawClient(port).welcomed().say(put(LONG))) {
            client.awaitEnd();
        }

        awaitThat(() -> port.counts().connections() == 0);
        assertThat(port.counts().heldBytes()).isZero();
        assertThat(errors.distinct()).isNotEmpty();
        server.broken = false;
        answered();
    }
}
