package org.rowankv.server.frontend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.rdma.SelectorPoller;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.catalogue.ClientCatalogue;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.dispatch.PollableCalls;

/** An idle loop resumes accepting after a temporary failure. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
final class PausedAcceptorTest {
    private static final int FAILURES = 3;

    private final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
    private final AtomicInteger failing = new AtomicInteger();
    private final Queue<SocketChannel> accepted = new ConcurrentLinkedQueue<>();

    /** A stub: the test never reaches its methods. */
    private static <T> T unused(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> switch (method.getName()) {
                    case "serverId" -> 0;
                    case "longestEntry" -> 1 << 20;
                    case "known" -> List.of();
                    case "calls" -> (PollableCalls) request -> unused(PollableCall.class);
                    default -> throw new UnsupportedOperationException(method.getName());
                }));
    }

    private boolean accept(ServerSocketChannel listener) {
        if (failing.get() > 0) {
            failing.decrementAndGet(); // for example, file descriptors are exhausted
            return false;
        }
        try {
            final SocketChannel channel = listener.accept();
            if (channel != null) {
                accepted.add(channel);
            }
            return true;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldAcceptAgainThoughItIsIdle() throws Exception {
        final List<Socket> clients = new ArrayList<>();
        try (ClientPort port = ClientPort.bind(
                        unused(RequestBackend.class),
                        unused(ClientCatalogue.class),
                        ClientPortSettings.at("127.0.0.1", 0, with -> with.loops = 1),
                        SystemClock.INSTANCE,
                        errors);
                ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listener.configureBlocking(false);
            final ClientEventLoop loop = new ClientEventLoop(
                    port,
                    new SelectorPoller(),
                    SystemClock.INSTANCE,
                    0,
                    new PortCounters(SystemClock.INSTANCE).ofLoop(0));
            loop.watch(listener, () -> accept(listener));
            loop.start();
            try {
                for (int i = 1; i <= FAILURES; i++) {
                    failing.set(i);
                    clients.add(new Socket(
                            InetAddress.getLoopbackAddress(), listener.socket().getLocalPort()));
                    final int expected = i;
                    await().atMost(Duration.ofSeconds(60)).until(() -> accepted.size() == expected);
                    assertThat(failing).hasValue(0);
                }
            } finally {
                loop.close();
                loop.join();
            }
        } finally {
            for (final Socket each : clients) {
                each.close();
            }
            for (final SocketChannel each : accepted) {
                each.close();
            }
        }
        assertThat(errors.distinct()).isEmpty();
    }
}
