package org.rowankv.driver.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.BytesFrame;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor.ClientWelcome;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.protocol.wire.ResponseDescriptor;
import org.rowankv.runtime.ManualClock;

/** Callers that start to wait at or after their deadlines, as after waiting for another server; and their slots. */
@Timeout(120)
final class NetConnectionTest {
    private static final long ATTEMPT_NS = 5_000;
    private static final long SILENCE_NS = 60_000_000_000L;
    private static final int SLOTS = 64;

    /** Routing updates are terms. */
    private static final class Routes implements SessionRoutes {
        private final AtomicLong term = new AtomicLong(1);
        private final AtomicInteger silences = new AtomicInteger();
        /** Left by newer terms. */
        private volatile int left = Integer.MIN_VALUE;

        @Override
        public void onRouting(byte[] bytes) {
            term.set(bytes[0]);
        }

        @Override
        public long term() {
            return term.get();
        }

        @Override
        public boolean hasLeft(int shard, long ofTerm) {
            return term.get() > ofTerm && (shard == left || shard == ControlRequest.CONFIGURATION);
        }

        @Override
        public void onSilence() {
            silences.incrementAndGet();
        }
    }

    private final Routes routes = new Routes();
    private final ManualClock clock = new ManualClock(1_000, 1);
    private ServerSocketChannel listener;
    private SocketChannel channel;
    private SocketChannel server;
    private Selector selector;
    private NetConnection connection;

    @BeforeEach
    void connect() throws IOException {
        listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        channel = SocketChannel.open();
        channel.setOption(StandardSocketOptions.SO_RCVBUF, 200_000);
        channel.connect(listener.getLocalAddress());
        server = listener.accept();
        selector = Selector.open();
        channel.configureBlocking(false);
        final SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
        connection = new NetConnection(
                channel,
                selector,
                key,
                new ClientWelcome(7, 1, 0, 1 << 20, SLOTS),
                NetSettings.DEFAULT.withSpinNs(0).withSilenceNs(SILENCE_NS), // the clock stands still
                clock,
                routes);
        clock.advanceNs(1_000);
    }

    @AfterEach
    void close() throws IOException {
        connection.fail(new IOException("the end of a test"));
        server.close();
        listener.close();
    }

    private InFlightRequest send(Request request) {
        return send(request, clock.nanoTime() + ATTEMPT_NS);
    }

    private InFlightRequest send(Request request, long deadlineNs) {
        final InFlightRequest exchange = connection.tryAcquire();
        exchange.begin(request.shard(), 1, clock.nanoTime(), deadlineNs).prepare(request, null, null);
        connection.enqueue(exchange);
        connection.flush();
        return exchange;
    }

    private static Request get() {
        return new Request().get(1, new byte[1], 0, 1);
    }

    private static Request getAt(int shard) {
        final Request get = get();
        get.placed(1, shard);
        return get;
    }

    private static Request answer(int bytes) {
        final Request answer = get();
        final byte[] unused = answer.resultOf(bytes);
        answer.answer(Status.OK, 0, 3, 0);
        return answer;
    }

    private void write(FrameEncoder frames) throws IOException {
        final int length = frames.pending();
        assertThat(frames.writeTo(server)).isTrue();
        await().until(() -> channel.socket().getInputStream().available() == length);
    }

    @Test
    void shouldReadWhatHasComeByTheDeadline() throws IOException {
        final Request request = get();
        final InFlightRequest exchange = send(request);
        final FrameEncoder frames = new FrameEncoder(1 << 10);
        ResponseDescriptor.write(frames, answer(10), exchange.number());
        write(frames);
        clock.advanceNs(ATTEMPT_NS);
        assertThat(connection.await(exchange)).isEqualTo(InFlightRequest.Outcome.ANSWERED);
        assertThat(request.version()).isEqualTo(3);
    }

    @Test
    void shouldReadAnAnswerBehindOthers() throws IOException {
        final InFlightRequest first = send(get());
        final InFlightRequest second = send(get());
        final FrameEncoder frames = new FrameEncoder(1 << 10);
        // Longer than one read, and no longer than the socket buffer.
        ResponseDescriptor.write(frames, answer(70_000), first.number());
        ResponseDescriptor.write(frames, answer(10), second.number());
        write(frames);
        clock.advanceNs(2 * ATTEMPT_NS);
        assertThat(connection.await(second)).isEqualTo(InFlightRequest.Outcome.ANSWERED);
        assertThat(connection.await(first)).isEqualTo(InFlightRequest.Outcome.ANSWERED);
    }

    @Test
    void shouldNotCallAServerSilentThatAnsweredAnother() throws IOException {
        final long beginNs = clock.nanoTime();
        final long deadlineNs = beginNs + ATTEMPT_NS;
        final InFlightRequest lost = send(get());
        final InFlightRequest answered = send(get());
        final FrameEncoder frames = new FrameEncoder(1 << 10);
        ResponseDescriptor.write(frames, answer(10), answered.number());
        write(frames);
        clock.advanceNs(ATTEMPT_NS);
        assertThat(connection.await(answered)).isEqualTo(InFlightRequest.Outcome.ANSWERED);
        assertThat(connection.await(lost)).isEqualTo(InFlightRequest.Outcome.LOST);
        assertThat(connection.isSilent(beginNs, deadlineNs, ATTEMPT_NS)).isFalse();
    }

    @Test
    void shouldCallAServerSilentThatSentNothing() {
        final long beginNs = clock.nanoTime();
        final long deadlineNs = beginNs + ATTEMPT_NS;
        final InFlightRequest lost = send(get());
        clock.advanceNs(ATTEMPT_NS);
        assertThat(connection.await(lost)).isEqualTo(InFlightRequest.Outcome.LOST);
        assertThat(connection.isSilent(beginNs, deadlineNs, ATTEMPT_NS)).isTrue();
    }

    private void push(int term) throws IOException {
        final FrameEncoder frames = new FrameEncoder(1 << 10);
        BytesFrame.write(frames, ClientFrameDescriptor.ROUTING, 0, new byte[] {(byte) term});
        assertThat(frames.writeTo(server)).isTrue();
    }

    /** No request is in flight. */
    @Test
    void shouldListenUntilANewerConfigurationIsPushed() throws Exception {
        final Thread listening = new Thread(() -> connection.listen(1, clock.nanoTime() + SILENCE_NS));
        listening.start();
        push(1);
        await().until(() -> channel.socket().getInputStream().available() == 0);
        push(2);
        listening.join();
        assertThat(routes.term()).isEqualTo(2);
        connection.listen(2, clock.nanoTime());
    }

    /** One of the callers reads for both, and another connection brings the configuration. */
    @Test
    void shouldEndTheWaitsForWhatHasLeft() throws Exception {
        routes.left = 3;
        final Request staying = getAt(2);
        final List<InFlightRequest> own = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            own.add(send(getAt(3), clock.nanoTime() + 10 * SILENCE_NS));
        }
        final InFlightRequest stays = send(staying, clock.nanoTime() + 10 * SILENCE_NS);
        final Queue<InFlightRequest.Outcome> outcomes = new ConcurrentLinkedQueue<>();
        final List<Thread> callers = own.stream()
                .map(each -> new Thread(() -> outcomes.add(connection.await(each))))
                .toList();
        callers.forEach(Thread::start);
        final Thread other = new Thread(() -> isAnswered(stays));
        other.start();
        await().until(() -> callers.stream().allMatch(each -> each.getState() != Thread.State.NEW));
        routes.term.set(2);
        connection.rerouted();
        for (Thread caller : callers) {
            caller.join();
        }
        assertThat(outcomes).hasSize(4).containsOnly(InFlightRequest.Outcome.LOST);
        final FrameEncoder frames = new FrameEncoder(1 << 10);
        ResponseDescriptor.write(frames, answer(10), stays.number());
        assertThat(frames.writeTo(server)).isTrue();
        other.join();
        assertThat(staying.version()).isEqualTo(3);
    }

    @Test
    void shouldReportASilenceOncePerTimeOfSilence() throws InterruptedException {
        final InFlightRequest lost = send(get(), clock.nanoTime() + 10 * SILENCE_NS);
        final Thread caller = new Thread(() -> connection.await(lost));
        caller.start();
        for (int i = 1; i <= 3; i++) {
            clock.advanceNs(SILENCE_NS);
            final int count = i;
            connection.rerouted(); // it sleeps by another clock
            await().until(() -> routes.silences.get() == count);
        }
        clock.advanceNs(10 * SILENCE_NS);
        connection.rerouted();
        caller.join();
    }

    /** A server that sends without pause. */
    @Test
    void shouldEndAtTheDeadlineAlthoughAServerSendsOn() throws Exception {
        final InFlightRequest lost = send(get(), clock.nanoTime());
        final Thread flood = new Thread(() -> {
            final FrameEncoder frames = new FrameEncoder(1 << 20);
            try {
                while (server.isOpen()) {
                    for (int i = 0; i < 1_000; i++) {
                        BytesFrame.write(frames, ClientFrameDescriptor.ROUTING, 0, new byte[1_000]);
                    }
                    while (!frames.writeTo(server)) {
                        Thread.onSpinWait();
                    }
                }
            } catch (IOException e) {
                assertThat(server.isOpen()).isFalse();
            }
        });
        flood.start();
        selector.select(ready -> {}, 60_000);
        assertThat(connection.await(lost)).isEqualTo(InFlightRequest.Outcome.LOST);
        server.close();
        flood.join();
    }

    private void answer(InFlightRequest... asked) throws IOException {
        final FrameEncoder frames = new FrameEncoder(1 << 10);
        for (InFlightRequest each : asked) {
            ResponseDescriptor.write(frames, answer(10), each.number());
        }
        write(frames);
    }

    private void isAnswered(InFlightRequest exchange) {
        assertThat(connection.await(exchange)).isEqualTo(InFlightRequest.Outcome.ANSWERED);
    }

    /** Runs one request, which ends in one of the ways that leave the connection open. */
    private void carryOut(int way) throws IOException {
        switch (way) {
            case 0 -> {
                final InFlightRequest asked = send(get());
                answer(asked);
                isAnswered(asked);
            }
            case 1 -> { // The deadline passes before the write.
                final InFlightRequest unsent = connection.tryAcquire();
                unsent.begin(0, 1, 0, clock.nanoTime()).prepare(get(), null, null);
                connection.enqueue(unsent);
                assertThat(connection.await(unsent)).isEqualTo(InFlightRequest.Outcome.UNSENT);
                connection.flush();
            }
            case 2 -> { // The response arrives after its caller left.
                final InFlightRequest late = send(get(), clock.nanoTime());
                assertThat(connection.await(late)).isEqualTo(InFlightRequest.Outcome.LOST);
                final InFlightRequest other = send(get());
                answer(late, other);
                isAnswered(other);
            }
            case 3 -> { // The request exceeds the server's limit.
                final byte[] value = new byte[1 << 20];
                final Request request = new Request().put(1, value, 0, 1, value, 0, value.length);
                assertThat(Attempts.prepares(connection.tryAcquire(), request, 1, 0, 0, null))
                        .isFalse();
                assertThat(request.status()).isEqualTo(Status.TOO_LARGE);
            }
            default -> throw new AssertionError(way);
        }
    }

    @Test
    void shouldGiveBackThePlaceHoweverARequestEnds() throws IOException {
        for (int way = 0; way < 4; way++) {
            carryOut(way);
            final List<InFlightRequest> all = new ArrayList<>();
            for (InFlightRequest each = connection.tryAcquire(); each != null; each = connection.tryAcquire()) {
                all.add(each);
            }
            assertThat(all).as("free slots after way %d", way).hasSize(SLOTS).doesNotHaveDuplicates();
            all.forEach(connection::release);
        }
    }
}
