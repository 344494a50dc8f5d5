package org.rowankv.node;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.cluster.HostAndPort;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a server tells of itself: one line asked, lines answered, the connection closed. Nothing can be changed here. One
 * connection at a time, each for a bounded time, so that nobody who misbehaves costs more than a wait.
 *
 * <p>A thread of its own, from the construction to {@link #close}.
 */
final class AdminPort implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AdminPort.class);
    private static final int PATIENCE_MS = 2000;
    private static final long PAUSE_NS = 100_000_000;
    private static final int MAX_LINE = 256;
    private static final int MAX_ANSWER = 4 << 20;

    private final ServerSocket listener;
    private final UnaryOperator<String> answers;
    private volatile boolean closed;

    /**
     * @param answers to a line; null-free
     * @throws UncheckedIOException if the address cannot be listened at
     */
    AdminPort(InetSocketAddress address, UnaryOperator<String> answers) {
        this.answers = answers;
        try {
            this.listener = new ServerSocket();
            listener.setReuseAddress(true);
            listener.bind(address, 16);
        } catch (IOException e) {
            throw new UncheckedIOException(new IOException("cannot listen at " + address + ": " + e.getMessage(), e));
        }
        final Thread thread = new Thread(this::serve, "rowan-admin");
        thread.setDaemon(true);
        thread.start();
    }

    int port() {
        return listener.getLocalPort();
    }

    private void serve() {
        while (!closed) {
            final Socket accepted = accept();
            if (accepted == null) {
                continue;
            }
            try (Socket socket = accepted) {
                socket.setSoTimeout(PATIENCE_MS);
                final String line = readLine(socket.getInputStream());
                if (line != null) {
                    try (BufferedWriter writer = new BufferedWriter(
                            new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8))) {
                        writer.write(answers.apply(line));
                    }
                }
            } catch (SocketTimeoutException e) {
                LOG.debug("somebody connected and asked nothing", e);
            } catch (IOException e) {
                if (!closed) {
                    LOG.debug("a connection of somebody who asks about this server broke", e);
                }
            } catch (RuntimeException e) {
                // Whoever asked gets nothing; the next one shall not find nobody here.
                LOG.warn("this server could not tell of itself", e);
            }
        }
    }

    /** Null if nobody can be taken now: then it has waited, for descriptors may be exhausted. */
    private @Nullable Socket accept() {
        try {
            return listener.accept();
        } catch (IOException e) {
            if (!closed) {
                LOG.debug("nobody can be taken who asks about this server", e);
                LockSupport.parkNanos(PAUSE_NS);
            }
            return null;
        }
    }

    /** A line without its end; null if the other end asks nothing that is one. */
    private static @Nullable String readLine(InputStream input) throws IOException {
        final StringBuilder line = new StringBuilder();
        for (int next = input.read(); next >= 0 && line.length() < MAX_LINE; next = input.read()) {
            if (next == '\n') {
                return line.toString().strip();
            }
            line.append((char) next);
        }
        return null;
    }

    /** Asks a server's port; what it answered. */
    static String ask(String host, int port, String line) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, port), PATIENCE_MS);
            socket.setSoTimeout(2 * PATIENCE_MS);
            socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readNBytes(MAX_ANSWER), StandardCharsets.UTF_8);
        }
    }

    /** What a server's port says of the server, by name. */
    static Map<String, String> askStatus(HostAndPort admin) throws IOException {
        final Map<String, String> values = new TreeMap<>();
        for (String line : ask(admin.host(), admin.port(), "status").lines().toList()) {
            final int equals = line.indexOf('=');
            if (equals > 0) {
                values.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        return values;
    }

    @Override
    public void close() {
        closed = true;
        try {
            listener.close();
        } catch (IOException e) {
            LOG.warn("the port at {} could not be closed", listener.getLocalSocketAddress(), e);
        }
    }
}
