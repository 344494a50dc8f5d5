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

/** Asks the {@link AdminPort} of a server. Any thread. */
public final class AdminRequest {
    /** For one question and its answer, the connection included. */
    static final int PATIENCE_MS = 2 * AdminPort.PATIENCE_MS;

    private static final int MAX_ANSWER = 4 << 20;
    private static final int CHUNK = 8 << 10;
    private static final long NS_PER_MS = 1_000_000;

    private AdminRequest() {}

    /**
     * The answer to a line.
     *
     * @throws IOException if it is not whole after {@value #PATIENCE_MS} ms
     */
    public static String ask(String host, int port, String line) throws IOException {
        return ask(host, port, line, SystemClock.INSTANCE);
    }

    public static String ask(String host, int port, String line, Clock clock) throws IOException {
        final long deadlineNs = clock.nanoTime() + PATIENCE_MS * NS_PER_MS;
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, port), AdminPort.PATIENCE_MS);
            socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            final ByteArrayOutputStream answer = new ByteArrayOutputStream();
            final InputStream input = socket.getInputStream();
            final byte[] chunk = new byte[CHUNK];
            while (answer.size() < MAX_ANSWER) {
                final long leftMs = (deadlineNs - clock.nanoTime()) / NS_PER_MS;
                if (leftMs <= 0) {
                    throw new SocketTimeoutException("no whole answer within " + PATIENCE_MS + " ms");
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

    /** What a server says of itself, by name. */
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
