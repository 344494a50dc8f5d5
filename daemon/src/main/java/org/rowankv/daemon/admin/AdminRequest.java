package org.rowankv.daemon.admin;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.membership.HostAndPort;

/** Client of a server's {@link AdminPort}. Thread-safe. */
public final class AdminRequest {
    /** For one request and its answer, including the connection. */
    static final int TIMEOUT_MS = 2 * AdminPort.TIMEOUT_MS;

    private static final int MAX_ANSWER = 4 << 20;
    private static final int CHUNK = 8 << 10;
    private static final long NS_PER_MS = 1_000_000;

    private AdminRequest() {}

    /**
     * Sends a line and returns the answer.
     *
     * @throws IOException if it is incomplete after {@value #TIMEOUT_MS} ms
     */
    public static String ask(String host, int port, String line) throws IOException {
        return ask(host, port, line, SystemClock.INSTANCE);
    }

    public static String ask(String host, int port, String line, Clock clock) throws IOException {
        final long deadlineNs = clock.nanoTime() + TIMEOUT_MS * NS_PER_MS;
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, port), AdminPort.TIMEOUT_MS);
            socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            final ByteArrayOutputStream answer = new ByteArrayOutputStream();
            final InputStream input = socket.getInputStream();
            final byte[] chunk = new byte[CHUNK];
            while (answer.size() < MAX_ANSWER) {
                final long leftMs = (deadlineNs - clock.nanoTime()) / NS_PER_MS;
                if (leftMs <= 0) {
                    throw new SocketTimeoutException("no whole answer within " + TIMEOUT_MS + " ms");
                }
                socket.setSoTimeout((int) leftMs);
                final int count = input.read(chunk);
                if (count < 0) {
                    break;
                }
                answer.write(chunk, 0, count);
            }
            return answer.toString(StandardCharsets.UTF_8);
        }
    }

    /** A server's status values, by name. */
    public static Map<String, String> askStatus(HostAndPort admin) throws IOException {
        final Map<String, String> values = new TreeMap<>();
        for (String line : ask(admin.host(), admin.port(), "status").lines().toList()) {
            final int equals = line.indexOf('=');
            if (equals > 0) {
                values.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        return values;
    }
}
