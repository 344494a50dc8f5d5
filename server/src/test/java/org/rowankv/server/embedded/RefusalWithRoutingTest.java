package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.protocol.wire.RequestDescriptor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.dispatch.PollableCalls;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.frontend.RequestBackend;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.Routing;
import org.rowankv.topology.ShardAssignment;

/** A client that is sent to another server learns of it in front of the refusal, and need not ask. */
@Timeout(value = 20, unit = TimeUnit.SECONDS)
final class RefusalWithRoutingTest {
    private static final byte[] KEY = {1, 2, 3};

    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch gate = new CountDownLatch(1);
    private volatile boolean primary = true;

    /** Keeps its loop busy with each request until the gate opens. */
    private final class Busy implements RequestBackend {
        @Override
        public int serverId() {
            return 0;
        }

        @Override
        public PollableCalls calls(int loop, int loops) {
            return request -> new StubCall() {
                private boolean begun;

                @Override
                public boolean step() {
                    if (!begun) {
                        begun = true;
                        return false; // the next step is behind this cycle's tasks
                    }
                    entered.countDown();
                    try {
                        gate.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    request.noResult();
                    request.answer(Status.OK, 0, 1, 0);
                    return true;
                }
            };
        }

        @Override
        public boolean isPrimary(int shard) {
            return primary;
        }

        @Override
        public boolean isServing() {
            return true;
        }

        @Override
        public long scan(int cacheId, int shard, long position, boolean withValues, Visitor visitor) {
            throw new AssertionError("no scans here");
        }
    }

    private static Routing routing(long term, int server) {
        return new Routing(
                new Configuration(
                        7, 8, term, List.of(1L, 1L), List.of(new ShardAssignment((int) term, server, new int[0]))),
                List.of("a:1", "b:1"));
    }

    private static RawClient client(ClientPort port) throws Exception {
        final RawClient client = new RawClient(port).welcomed();
        assertThat(FrameHeadDescriptor.type(client.heardFrame(), 0)).isEqualTo(ClientFrameDescriptor.ROUTING);
        return client;
    }

    private static byte[] get() {
        final FrameEncoder out = new FrameEncoder(64);
        final Request get = new Request().get(1, KEY, 0, KEY.length);
        get.placed(new KeyHash(8).hash(1, KEY, 0, KEY.length), 0);
        RequestDescriptor.write(out, get, 1 << 16, 1);
        return RawClient.written(out);
    }

    @Test
    void shouldSendTheRoutingInFrontOfTheRefusal() throws Exception {
        final ClientPort port = ClientPort.bind(
                        new Busy(),
                        new OneCache(),
                        ClientPortSettings.at("127.0.0.1", 0, with -> with.loops = 1),
                        SystemClock.INSTANCE,
                        new ErrorLog(SystemClock.INSTANCE))
                .serve(routing(1, 0));
        try (RawClient first = client(port);
                RawClient second = client(port)) {
            first.say(get());
            entered.await();
            // The loop is busy: it finds the request and the new routing together.
            primary = false;
            port.publish(routing(2, 1));
            second.say(get());
            gate.countDown();
            assertThat(FrameHeadDescriptor.type(second.heardFrame(), 0)).isEqualTo(ClientFrameDescriptor.ROUTING);
            assertThat(FrameHeadDescriptor.type(second.heardFrame(), 0)).isEqualTo(ClientFrameDescriptor.ANSWER);
            second.say(RawClient.frame(ClientFrameDescriptor.ROUTING_REQUEST, new byte[0]));
            assertThat(FrameHeadDescriptor.number(second.heardFrame(), 0))
                    .as("the routing was announced once")
                    .isEqualTo(7);
        } finally {
            gate.countDown();
            port.close();
        }
    }
}
