package org.rowankv.check.disturb;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;

/** A TCP proxy between clients and a server that forwards bytes and kills connections. Thread-safe. */
public final class KillingProxy implements AutoCloseable {
    private static final int BACKLOG = 200;
    private static final int BUFFER = 64 << 10;

    /** How a connection is killed. */
    enum Death {
        /** At once, in both directions. */
        BOTH_WAYS,
        /** With the server's next reply: the request took effect, and the reply is lost. */
        ANSWER_LOST,
        /** In the middle of the client's next request. */
        QUESTION_CUT
    }

    private final ServerSocket listener;
    private final Set<Passage> passages = ConcurrentHashMap.newKeySet();
    private final LongAdder killed = new LongAdder();
    private volatile @Nullable InetSocketAddress target;

    public KillingProxy() {
        try {
            this.listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon("proxy-accept", this::accept);
    }

    /** The address for clients. */
    public String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /** Sets the server's address; until then connections are refused. */
    public void target(InetSocketAddress server) {
        target = server;
    }

    /** Number of killed connections. */
    public long killed() {
        return killed.sum();
    }

    /** Marks one of its connections for killing, if there is any. */
    public void killOne(RandomSource random) {
        final List<Passage> open = new ArrayList<>(passages);
        if (!open.isEmpty()) {
            open.get(random.nextInt(open.size())).doom(Death.values()[random.nextInt(Death.values().length)]);
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                final Socket client = listener.accept();
                final Passage passage = new Passage(client);
                passages.add(passage);
                daemon("proxy-there", passage::pass);
            } catch (SocketException e) {
                if (!listener.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** A client's connection and its connection to the server. */
    private final class Passage {
        private final Socket client;
        private final Socket server = new Socket();
        private volatile @Nullable Death doom;

        Passage(Socket client) {
            this.client = client;
        }

        void doom(Death death) {
            doom = death;
            if (death == Death.BOTH_WAYS) {
                kill();
            }
        }

        private void kill() {
            if (passages.remove(this)) {
                killed.increment();
            }
            close();
        }

        void pass() {
            final InetSocketAddress to = target;
            try {
                if (to != null) {
                    server.connect(to);
                    server.setTcpNoDelay(true);
                    client.setTcpNoDelay(true);
                    daemon("proxy-back", () -> pass(server, client, Death.ANSWER_LOST));
                    pass(client, server, Death.QUESTION_CUT);
                }
            } catch (IOException e) {
                // The server does not listen now: the client finds its connection closed.
            } finally {
                end();
            }
        }

        private void pass(Socket from, Socket to, Death deadly) {
            final byte[] bytes = new byte[BUFFER];
            try {
                final InputStream in = from.getInputStream();
                final OutputStream out = to.getOutputStream();
                for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                    if (doom == deadly) {
                        out.write(bytes, 0, deadly == Death.QUESTION_CUT ? count / 2 : 0);
                        kill();
                        return;
                    }
                    out.write(bytes, 0, count);
                }
            } catch (IOException e) {
                // Killed, or closed by one end: the other end is closed below.
            } finally {
                end();
            }
        }

        private void end() {
            passages.remove(this);
            close();
        }

        private void close() {
            closeQuietly(client);
            closeQuietly(server);
        }
    }

    private static void closeQuietly(Closeable socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void daemon(String name, Runnable work) {
        final Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        closeQuietly(listener);
        for (Passage passage : passages) {
            passage.end();
        }
    }
}
