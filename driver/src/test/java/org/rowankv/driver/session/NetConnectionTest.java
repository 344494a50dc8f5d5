package org.rowankv.driver.session;

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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.AnswerDescriptor;
import org.rowankv.protocol.wire.BytesFrame;
import org.rowankv.protocol.wire.FrameDescriptor;
import org.rowankv.protocol.wire.FrameWriter;
import org.rowankv.protocol.wire.HelloDescriptor;
import org.rowankv.protocol.wire.HelloDescriptor.Welcome;
import org.rowankv.runtime.ManualClock;

/** A caller that begins to wait at its deadline or behind it, as after it waited for another server. */
@Timeout(60)
final class NetConnectionTest {
    private static final long ATTEMPT_NS = 5_000;

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
                new Welcome(HelloDescriptor.VERSION, HelloDescriptor.WELCOME, 7, 1, 0, 1 << 20, 64, ""),
                NetSettings.DEFAULT,
                clock,
                routing -> {});
        clock.advanceNs(1_000);
    }

    @AfterEach
    void close() throws IOException {
        connection.fail(new IOException("the end of a test"));
        server.close();
        listener.close();
    }

    private Exchange send(Request request) {
        final Exchange exchange = connection.tryBorrow();
        exchange.prepare(request, 1, null);
        connection.enqueue(exchange);
        connection.flush();
        return exchange;
    }

    private static Request get() {
        return new Request().get(1, new byte[1], 0, 1);
    }

    private static Request answer(int bytes) {
        final Request answer = get();
        final byte[] unused = answer.resultOf(bytes);
        answer.answer(Status.OK, 0, 3, 0);
        return answer;
    }

    private void write(FrameWriter frames) throws IOException {
        final int length = frames.pending();
        assertThat(frames.writeTo(server)).isTrue();
        await().until(() -> channel.socket().getInputStream().available() == length);
    }

    @Test
    void shouldReadWhatHasComeByTheDeadline() throws IOException {
        final long deadlineNs = clock.nanoTime() + ATTEMPT_NS;
        final Request request = get();
        final Exchange exchange = send(request);
        final FrameWriter frames = new FrameWriter(1 << 10);
        AnswerDescriptor.write(frames, answer(10), exchange.number());
        write(frames);
        clock.advanceNs(ATTEMPT_NS);
        assertThat(connection.await(exchange, deadlineNs)).isEqualTo(Exchange.Outcome.ANSWERED);
        assertThat(request.version()).isEqualTo(3);
    }

    @Test
    void shouldReadAnAnswerBehindOthers() throws IOException {
        final long deadlineNs = clock.nanoTime() + ATTEMPT_NS;
        final Exchange first = send(get());
        final Exchange second = send(get());
        final FrameWriter frames = new FrameWriter(1 << 10);
        // Longer than one read takes, and no longer than the socket holds.
        AnswerDescriptor.write(frames, answer(70_000), first.number());
        AnswerDescriptor.write(frames, answer(10), second.number());
        write(frames);
        clock.advanceNs(2 * ATTEMPT_NS);
        assertThat(connection.await(second, deadlineNs)).isEqualTo(Exchange.Outcome.ANSWERED);
        assertThat(connection.await(first, deadlineNs)).isEqualTo(Exchange.Outcome.ANSWERED);
    }

    @Test
    void shouldNotCallAServerSilentThatAnsweredAnother() throws IOException {
        final long beginNs = clock.nanoTime();
        final long deadlineNs = beginNs + ATTEMPT_NS;
        final Exchange lost = send(get());
        final Exchange answered = send(get());
        final FrameWriter frames = new FrameWriter(1 << 10);
        AnswerDescriptor.write(frames, answer(10), answered.number());
        write(frames);
        clock.advanceNs(ATTEMPT_NS);
        assertThat(connection.await(answered, deadlineNs)).isEqualTo(Exchange.Outcome.ANSWERED);
        assertThat(connection.await(lost, deadlineNs)).isEqualTo(Exchange.Outcome.LOST);
        assertThat(connection.isSilent(beginNs, deadlineNs, ATTEMPT_NS)).isFalse();
    }

    @Test
    void shouldCallAServerSilentThatSentNothing() {
        final long beginNs = clock.nanoTime();
        final long deadlineNs = beginNs + ATTEMPT_NS;
        final Exchange lost = send(get());
        clock.advanceNs(ATTEMPT_NS);
        assertThat(connection.await(lost, deadlineNs)).isEqualTo(Exchange.Outcome.LOST);
        assertThat(connection.isSilent(beginNs, deadlineNs, ATTEMPT_NS)).isTrue();
    }

    /** As one that pushes, or that answers others all the time. */
    @Test
    void shouldEndAtTheDeadlineAlthoughAServerSendsOn() throws Exception {
        final Exchange lost = send(get());
        final Thread flood = new Thread(() -> {
            final FrameWriter frames = new FrameWriter(1 << 20);
            try {
                while (server.isOpen()) {
                    for (int i = 0; i < 1_000; i++) {
                        BytesFrame.write(frames, FrameDescriptor.ROUTING, 0, new byte[1_000]);
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
        assertThat(connection.await(lost, clock.nanoTime())).isEqualTo(Exchange.Outcome.LOST);
        server.close();
        flood.join();
    }
}
