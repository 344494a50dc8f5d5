package org.rowankv.server.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Forwards bytes in both directions, until its connections are cut. */
final class CuttingProxy implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
    private final int to;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    CuttingProxy(int to) throws IOException {
        this.to = to;
        start(this::accept);
    }

    String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    private interface Step {
        void run() throws IOException;
    }

    private static void start(Step step) {
        final Thread thread = new Thread(() -> {
            try {
                step.run();
            } catch (IOException e) {
                // The connection was cut: the purpose of this proxy.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() throws IOException {
        while (!closed) {
            final Socket from = listener.accept();
            final Socket there = new Socket(InetAddress.getByName("127.0.0.1"), to);
            sockets.add(from);
            sockets.add(there);
            start(() -> pump(from, there));
            start(() -> pump(there, from));
        }
    }

    private void pump(Socket from, Socket there) throws IOException {
        try (from;
                there;
                InputStream in = from.getInputStream();
                OutputStream out = there.getOutputStream()) {
            in.transferTo(out);
        } finally {
            sockets.remove(from);
            sockets.remove(there);
        }
    }

    void cut() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        listener.close();
        cut();
    }
}
