package org.rowankv.daemon.admin;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.function.UnaryOperator;
import org.rowankv.runtime.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves status requests: a connection sends one line, or a GET of HTTP whose path is the line ({@link HttpAnswer}),
 * receives the lines of the answer, and ends. Read-only.
 *
 * <p>One thread serves all connections and never blocks on one of them. A connection has {@value #TIMEOUT_MS} ms for
 * its request and its answer together. At most {@value #MAX_CONNECTIONS} are open; a further one ends the oldest, so
 * slow peers cannot block others.
 *
 * <p>The thread runs from the construction to {@link #close}. Thread-safe.
 */
public final class AdminPort implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AdminPort.class);
    /** For request and answer together. */
    static final int TIMEOUT_MS = 2000;
    /** Open at once. */
    static final int MAX_CONNECTIONS = 64;

    private static final int BACKLOG = 128;
    private static final int MAX_ACCEPTED_AT_ONCE = 16;
    private static final long NS_PER_MS = 1_000_000;
    /** Interval of the checks of deadlines, and of a listener that could not accept. */
    private static final long CHECK_MS = 50;

    private final UnaryOperator<String> answers;
    private final Clock clock;
    private final ServerSocketChannel listener;
    private final Selector selector;
    private final SelectionKey accepting;
    private final int port;
    private final Thread thread;
    // Owned by the thread.
    private final ArrayDeque<AdminConnection> open = new ArrayDeque<>();
    private volatile boolean closed;

    /**
     * @param answers returns the answer to a line; never null
     * @param clock measures the time of a connection
     * @throws UncheckedIOException if it cannot listen at the address
     */
    public AdminPort(InetSocketAddress address, UnaryOperator<String> answers, Clock clock) {
        this.answers = answers;
        this.clock = clock;
        try {
            this.selector = Selector.open();
            this.listener = ServerSocketChannel.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try {
            listener.socket().setReuseAddress(true);
            listener.bind(address, BACKLOG);
            listener.configureBlocking(false);
            this.accepting = listener.register(selector, SelectionKey.OP_ACCEPT);
            this.port = listener.socket().getLocalPort();
        } catch (IOException e) {
            release();
            throw new UncheckedIOException(new IOException("cannot listen at " + address + ": " + e.getMessage(), e));
        }
        this.thread = new Thread(this::serve, "rowan-admin");
        thread.setDaemon(true);
        thread.start();
    }

    /** The port it listens at. */
    int port() {
        return port;
    }

    private void serve() {
        try {
            while (!closed) {
                serveOnce();
            }
        } catch (IOException | ClosedSelectorException e) {
            LOG.error("ROWAN-4002 Admin port ended: port={} cause={}", port, e.toString());
        } finally {
            open.forEach(AdminConnection::close);
            release();
        }
    }

    private void serveOnce() throws IOException {
        final boolean polls = !open.isEmpty() || accepting.interestOps() == 0;
        final int unused = selector.select(this::onReady, polls ? CHECK_MS : 0);
        if (accepting.isValid()) {
            accepting.interestOps(SelectionKey.OP_ACCEPT);
        }
        final long nowNs = clock.nanoTime();
        while (!open.isEmpty() && open.peekFirst().isOverdue(nowNs)) { // in the order of their deadlines
            end(open.peekFirst(), "took more than " + TIMEOUT_MS + " ms");
        }
    }

    private void onReady(SelectionKey key) {
        if (key == accepting) {
            accept();
            return;
        }
        final AdminConnection connection = (AdminConnection) key.attachment();
        try {
            if (connection.isDone(key, answers)) {
                connection.close();
                open.remove(connection);
            }
        } catch (IOException e) {
            end(connection, e.toString());
        } catch (RuntimeException e) {
            // This peer receives no answer; the port continues.
            LOG.warn("ROWAN-4003 Admin request failed", e);
            end(connection, "failed");
        }
    }

    private void accept() {
        try {
            for (int i = 0; i < MAX_ACCEPTED_AT_ONCE; i++) {
                final SocketChannel channel = listener.accept();
                if (channel == null) {
                    return;
                }
                if (open.size() == MAX_CONNECTIONS) {
                    end(open.peekFirst(), "is the oldest of " + MAX_CONNECTIONS);
                }
                adopt(channel);
            }
        } catch (IOException e) {
            // For example, file descriptors are exhausted: waiting connections would make the key ready again at once.
            LOG.debug("Admin port cannot accept: {}", e.toString());
            if (accepting.isValid()) {
                accepting.interestOps(0);
            }
        }
    }

    private void adopt(SocketChannel channel) {
        final AdminConnection connection = new AdminConnection(channel, clock.nanoTime() + TIMEOUT_MS * NS_PER_MS);
        try {
            channel.configureBlocking(false);
            final SelectionKey unused = channel.register(selector, SelectionKey.OP_READ, connection);
            open.addLast(connection);
        } catch (IOException e) {
            LOG.debug("Connection to the admin port broken: {}", e.toString());
            connection.close();
        }
    }

    private void end(AdminConnection connection, String why) {
        LOG.debug("Closed the connection of {} to the admin port: it {}", connection, why);
        connection.close();
        open.remove(connection);
    }

    private void release() {
        try {
            listener.close();
            selector.close(); // releases the listener's descriptor
        } catch (IOException e) {
            LOG.warn("ROWAN-4004 Closing the admin port failed: {}", e.toString());
        }
    }

    /** Stops listening and ends all connections. Waits at most {@value #TIMEOUT_MS} ms for an answer in progress. */
    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        try {
            thread.join(TIMEOUT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
