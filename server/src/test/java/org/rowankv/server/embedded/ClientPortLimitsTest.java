package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.wire.BytesFrame;
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
import org.rowankv.topology.RoutingDescriptor;
import org.rowankv.topology.ShardAssignment;
import org.rowankv.topology.ShardMap;

/** Limits of a connection's share of a server's memory, in size and time. Deadlines follow the test's clock. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ClientPortLimitsTest {
    private static final int SHARDS = 2_048;
    private static final int SEED = 8;
    private static final byte[] KEY = {1, 2, 3};

    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private final ErrorLog errors = new ErrorLog(clock);
    private final List<RawClient> clients = new ArrayList<>();
    private AnsweringServer server;
    private ClientPort port;

    private void open(int valueLength, ClientPortSettings settings) throws IOException {
        server = new AnsweringServer(valueLength);
        port = ClientPort.bind(server, new OneCache(), settings, clock, errors);
        port.serve(routing(1));
    }

    private static ClientPortSettings settings() {
        return ClientPortSettings.at("127.0.0.1", 0, with -> with.loops = 1);
    }

    private static ClientPortSettings settings(long maxHeldBytes) {
        return ClientPortSettings.at("127.0.0.1", 0, with -> {
            with.loops = 1;
            with.maxHeldBytes = maxHeldBytes;
        });
    }

    private Routing routing(long term) {
        return new Routing(
                new Configuration(
                        7,
                        SEED,
                        term,
                        List.of(1L),
                        Collections.nCopies(SHARDS, new ShardAssignment((int) term, 0, new int[0]))),
                List.of("127.0.0.1:" + port.address().getPort()));
    }

    /** Also after a failed test: a wait for simulated time would never end. */
    @AfterEach
    void close() throws IOException {
        server.stuck = false;
        for (RawClient each : clients) {
            each.close();
        }
        final Thread time = new Thread(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                clock.advanceMs(1_000);
                LockSupport.parkNanos(10_000_000);
            }
        });
        time.start();
        port.close();
        time.interrupt();
        assertThat(errors.distinct()).isEmpty();
    }

    private RawClient client() throws Exception {
        final RawClient client = new RawClient(port, 4 << 10);
        clients.add(client);
        return client.welcomed();
    }

    private static Request placed(Request request) {
        final long hash = new KeyHash(SEED).hash(1, KEY, 0, KEY.length);
        request.placed(hash, ShardMap.shardOf(hash, SHARDS));
        return request;
    }

    private static byte[] gets(int count) {
        final FrameEncoder out = new FrameEncoder(64);
        for (int i = 1; i <= count; i++) {
            RequestDescriptor.write(out, placed(new Request().get(1, KEY, 0, KEY.length)), (long) i << 16, 1);
        }
        return RawClient.written(out);
    }

    private static byte[] put(int valueLength) {
        final FrameEncoder out = new FrameEncoder(64);
        final Request put = new Request().put(1, KEY, 0, KEY.length, new byte[valueLength], 0, valueLength);
        put.identified(5, 1, 0);
        RequestDescriptor.write(out, placed(put), 1L << 16, 1);
        return RawClient.written(out);
    }

    private static ByteBuffer heardAnswer(RawClient client) throws IOException {
        while (true) {
            final ByteBuffer frame = client.heardFrame();
            if (FrameHeadDescriptor.type(frame, 0) == ClientFrameDescriptor.ANSWER) {
                return frame;
            }
        }
    }

    private static void awaitThat(java.util.concurrent.Callable<Boolean> condition) {
        await().atMost(30, TimeUnit.SECONDS)
                .pollDelay(0, TimeUnit.MILLISECONDS)
                .pollInterval(5, TimeUnit.MILLISECONDS)
                .until(condition);
    }

    /** Advances the clock at each check. The checks leave the port time for immediate work. */
    private void awaitWhileTimePasses(long ms, java.util.concurrent.Callable<Boolean> condition) {
        await().atMost(30, TimeUnit.SECONDS)
                .pollInterval(20, TimeUnit.MILLISECONDS)
                .until(() -> {
                    clock.advanceMs(ms);
                    return condition.call();
                });
    }

    private void requireServed() throws Exception {
        final RawClient other = client().say(gets(1));
        assertThat(FrameHeadDescriptor.type(heardAnswer(other), 0)).isEqualTo(ClientFrameDescriptor.ANSWER);
    }

    @Test
    void shouldAnswerAllThatASlowReaderHasAskedFor() throws Exception {
        open(300_000, settings());
        final int asked = 64;
        final RawClient slow = client().say(gets(asked));
        // A connection with more than a MiB of output is not read further.
        awaitThat(() -> port.requests() >= 4);

        for (int i = 0; i < asked; i++) {
            assertThat(heardAnswer(slow).capacity()).isGreaterThan(300_000);
        }
    }

    @Test
    void shouldKeepOnlyTheNewestRoutingForAClientThatDoesNotRead() throws Exception {
        open(10, settings());
        final RawClient silent = client();
        final int terms = 2_000;
        for (int term = 2; term <= terms; term++) {
            port.publish(routing(term));
        }
        requireServed(); // the loop has processed all of them

        int heard = 0;
        silent.say(RawClient.frame(ClientFrameDescriptor.ROUTING_REQUEST, new byte[0]));
        ByteBuffer frame = silent.heardFrame();
        while (FrameHeadDescriptor.number(frame, 0) == 0) {
            heard++;
            frame = silent.heardFrame();
        }
        // The answer includes what was pending at the request.
        assertThat(RoutingDescriptor.decode(BytesFrame.body(frame, 0, frame.capacity()))
                        .term())
                .isEqualTo(terms);
        assertThat(heard).isLessThan(terms);
    }

    @Test
    void shouldCloseAConnectionWhoseFrameDoesNotGoOn() throws Exception {
        open(10, settings());
        final RawClient half = client().say(java.util.Arrays.copyOf(put(200_000), 150_000));
        final RawClient begun = client().say((byte) 1);
        final RawClient resting = client();
        requireServed();
        assertThat(half.isEnded()).isFalse();

        awaitWhileTimePasses(1_000, () -> half.isEnded() && begun.isEnded());

        assertThat(resting.isEnded()).isFalse();
        requireServed();
    }

    @Test
    void shouldCloseAConnectionThatDoesNotReadItsAnswers() throws Exception {
        open(500_000, settings());
        final RawClient silent = client().say(gets(64));
        awaitThat(() -> port.counts().heldBytes() > 500_000);

        awaitWhileTimePasses(1_000, () -> port.faults(WireFault.STALLED) == 1);

        awaitThat(silent::isEnded);
        awaitThat(() -> port.counts().heldBytes() < 500_000); // only contexts kept for reuse remain
    }

    @Test
    void shouldKeepAConnectionWhoseFrameGoesOnSlowly() throws Exception {
        open(10, settings());
        final byte[] put = put(900_000);
        final RawClient slow = client();
        final int step = 100_000;
        for (int at = 0; at < put.length; at += step) {
            final long before = port.counts().receivedBytes();
            final byte[] part = java.util.Arrays.copyOfRange(put, at, Math.min(put.length, at + step));
            slow.say(part);
            awaitThat(() -> port.counts().receivedBytes() - before == part.length);
            clock.advanceMs(20_000);
            requireServed();
        }
        assertThat(heardAnswer(slow)).isNotNull();
    }

    @Test
    void shouldRefuseAFrameLongerThanAnyEntryAtItsLength() throws Exception {
        open(10, settings());
        final RawClient raw = new RawClient(port);
        clients.add(raw);
        raw.hello(0, ClientPortSettings.DEFAULT_MAX_FRAME);
        final int longest = raw.heardWelcome().maxFrame();
        assertThat(longest).isEqualTo(AnsweringServer.LONGEST_ENTRY + RequestDescriptor.FIXED_LENGTH);

        raw.say(put(longest - RequestDescriptor.FIXED_LENGTH - KEY.length));
        assertThat(heardAnswer(raw)).isNotNull();
        raw.say(java.util.Arrays.copyOf(put(longest - RequestDescriptor.FIXED_LENGTH - KEY.length + 1), 24))
                .awaitEnd();

        assertThat(port.faults(WireFault.BAD_LENGTH)).isEqualTo(1);
    }

    /** Incomplete frames fill half of the memory; a client with complete frames is served meanwhile. */
    @Test
    void shouldHoldNoMoreThanItMayOfFramesThatNeverGetWhole() throws Exception {
        final int budget = 8 << 20;
        open(10, settings(budget));
        final byte[] put = put(1_000_000);
        final List<Thread> senders = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            final RawClient half = client();
            final Thread sender = new Thread(() -> {
                try {
                    half.say(java.util.Arrays.copyOf(put, put.length - 1));
                } catch (IOException e) {
                    assertThat(e).isNotNull(); // closed meanwhile
                }
            });
            senders.add(sender);
            sender.start();
        }
        awaitThat(() -> port.counts().frameWaits() > 0);
        assertThat(port.counts().heldBytes()).isLessThan(budget);
        requireServed();

        final RawClient well = client().say(put);
        awaitWhileTimePasses(200, () -> {
            assertThat(port.counts().heldBytes()).isLessThan(budget);
            return port.faults(WireFault.STALLED) == 40;
        });

        assertThat(heardAnswer(well)).isNotNull();
        for (Thread each : senders) {
            each.join();
        }
        assertThat(port.connections()).isEqualTo(2);
    }

    /** A slow connection is no fault: what counts is how long others have waited for its memory. */
    @Test
    void shouldFinishASlowFrameForWhichOthersHaveNotWaitedLong() throws Exception {
        open(10, settings(3 << 20));
        final byte[] put = put(1_000_000);
        final int step = 100_000;
        final RawClient slow = client();
        int at = 0;
        for (; at < 800_000; at += step) {
            final long before = port.counts().receivedBytes();
            slow.say(java.util.Arrays.copyOfRange(put, at, at + step));
            awaitThat(() -> port.counts().receivedBytes() - before == step);
            requireServed(); // the cycle that read them is over: its one reading of the clock is not used for the next
            clock.advanceMs(1_500);
        }
        final RawClient other = client();
        final Thread sender = new Thread(() -> {
            try {
                other.say(put);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        sender.start();
        awaitThat(() -> port.counts().frameWaits() > 0);
        for (int i = 0; i < 4; i++) {
            clock.advanceMs(100);
            requireServed();
        }
        assertThat(port.faults(WireFault.STALLED)).isZero();
        slow.say(java.util.Arrays.copyOfRange(put, at, put.length));
        assertThat(heardAnswer(slow)).isNotNull();
        assertThat(heardAnswer(other)).isNotNull();
        sender.join();
    }

    /** Each makes the minimum progress, and holds the memory of a whole frame: not for long while others wait. */
    @Test
    void shouldNotLetFramesThatTrickleKeepTheirRoomWhileOthersWait() throws Exception {
        open(10, settings(8 << 20));
        final byte[] put = put(1_000_000);
        final int step = 64 << 10;
        final List<RawClient> slow = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            slow.add(client().say(java.util.Arrays.copyOf(put, step + 1_000)));
        }
        awaitThat(() -> port.counts().heldBytes() > 3_900_000);
        final RawClient well = client();
        final Thread sender = new Thread(() -> {
            try {
                well.say(put);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        sender.start();
        awaitThat(() -> port.counts().frameWaits() > 0);
        for (int round = 1; round <= 7 && port.faults(WireFault.STALLED) == 0; round++) {
            final long before = port.counts().receivedBytes();
            final int at = round * step + 1_000;
            for (RawClient each : slow) {
                try {
                    each.say(java.util.Arrays.copyOfRange(put, at, at + step));
                } catch (IOException e) {
                    awaitThat(() -> port.faults(WireFault.STALLED) > 0); // closed for that reason
                }
            }
            awaitThat(() ->
                    port.counts().receivedBytes() - before >= slow.size() * step || port.faults(WireFault.STALLED) > 0);
            clock.advanceMs(1_900);
            requireServed();
        }
        awaitThat(() -> port.faults(WireFault.STALLED) == slow.size());
        assertThat(heardAnswer(well)).isNotNull();
        sender.join();
    }

    /** A complete frame behind requests that wait for the server is not its client's fault. */
    @Test
    void shouldNotCloseAClientWhoseFrameWaitsForItsOtherRequests() throws Exception {
        final int budget = 8 << 20;
        open(10, settings(budget));
        server.stuck = true;
        final byte[] put = put(270_000);
        final int asked = 17;
        final RawClient many = client();
        final long first = port.counts().receivedBytes();
        for (int i = 1; i < asked; i++) {
            many.say(put);
        }
        awaitThat(() -> port.counts().receivedBytes() - first == (asked - 1L) * put.length);
        awaitThat(() -> port.counts().heldBytes() >= budget / 2);
        final long before = port.counts().receivedBytes();
        many.say(java.util.Arrays.copyOf(put, 100_000));
        awaitThat(() -> port.counts().receivedBytes() - before == 100_000); // and it has its memory
        many.say(java.util.Arrays.copyOfRange(put, 100_000, put.length));
        awaitThat(() -> port.counts().receivedBytes() - before == put.length);
        for (int s = 0; s < 20; s++) {
            client().say((byte) 1); // so that there is a connection to check
            requireServed();
            clock.advanceMs(1_000);
        }
        requireServed();
        server.stuck = false;
        for (int i = 0; i < asked; i++) {
            assertThat(heardAnswer(many)).isNotNull();
        }
    }

    /** Pending requests hold memory too: with half of it held, a connection has a small in-flight window. */
    @Test
    void shouldTakeFewRequestsOfAConnectionWhileMemoryIsShort() throws Exception {
        final int budget = 8 << 20;
        open(10, settings(budget));
        server.stuck = true;
        final RawClient many = client();
        final byte[] put = put(60_000);
        final Thread sender = new Thread(() -> {
            try {
                for (int i = 0; i < 500; i++) {
                    many.say(put);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        sender.start();
        awaitThat(() -> port.counts().heldBytes() >= budget / 2);
        requireServed();
        assertThat(port.counts().heldBytes()).isLessThan(budget * 3L / 4);

        server.stuck = false;
        for (int i = 0; i < 500; i++) {
            assertThat(heardAnswer(many)).isNotNull();
        }
        sender.join();
        assertThat(port.faults(WireFault.STALLED)).isZero();
    }

    /** Unread answers: the slowest readers are closed before memory is exhausted. */
    @Test
    void shouldHoldNoMoreThanItMayOfAnswersThatAreNotRead() throws Exception {
        final int budget = 8 << 20;
        open(1_000_000, settings(budget));
        for (int i = 0; i < 40; i++) {
            final RawClient silent = client().say(gets(16));
            assertThat(silent).isNotNull();
        }
        requireServed();

        awaitWhileTimePasses(100, () -> {
            assertThat(port.counts().heldBytes()).isLessThan(2 * budget + (4 << 20));
            return port.faults(WireFault.STALLED) == 40;
        });
        requireServed();
        awaitThat(() -> port.counts().heldBytes() < budget / 2);
    }
}
