package org.rowankv.server.cluster;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Forwards bytes to a server's port, until its connections are cut. */
public final class TcpProxy implements AutoCloseable {
    private final ServerSocket listener;
    private final Supplier<InetSocketAddress> target;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile boolean refusing;
    private volatile boolean silent;

    TcpProxy(Supplier<InetSocketAddress> target) {
        this.target = target;
        try {
            this.listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon("proxy-accept", this::accept);
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** Whether new connections are closed at once. */
    void refuse(boolean refuse) {
        refusing = refuse;
    }

    /** From now on nothing passes, and no connection ends: both sides wait, as for a host without power. */
    void silence() {
        silent = true;
    }

    /** Cuts all connections, whatever they carry; returns how many. */
    int cut() {
        int count = 0;
        for (Socket socket : sockets) {
            close(socket);
            count++;
        }
        return count;
    }

    private void accept() {
        try {
            while (true) {
                final Socket from = listener.accept();
                final Socket to = new Socket();
                sockets.add(from);
                sockets.add(to);
                if (refusing) {
                    close(from);
                    close(to);
                    continue;
                }
                daemon("proxy-there", () -> {
                    try {
                        to.connect(target.get());
                        to.setTcpNoDelay(true);
                        from.setTcpNoDelay(true);
                    } catch (IOException | RuntimeException e) { // refused, or there is no port
                        close(from);
                        close(to);
                        return;
                    }
                    daemon("proxy-back", () -> pass(to, from));
                    pass(from, to);
                });
            }
        } catch (SocketException e) {
            if (!listener.isClosed()) {
                throw new UncheckedIOException(e);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void pass(Socket from, Socket to) {
        final byte[] bytes = new byte[64 << 10];
        try {
            for (int count = from.getInputStream().read(bytes);
                    count >= 0;
                    count = from.getInputStream().read(bytes)) {
                if (!silent) {
                    to.getOutputStream().write(bytes, 0, count);
                }
            }
        } catch (IOException e) {
            // Cut, or closed by one end: the other end is closed below.
        } finally {
            if (!silent) {
                close(from);
                close(to);
            }
        }
    }

    private void close(Closeable socket) {
        sockets.remove(socket);
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
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        cut();
    }
}
