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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A TCP proxy in front of one node of a {@link CutNetwork}. Thread-safe. */
public final class CuttingProxy implements AutoCloseable {
    private static final int BACKLOG = 200;
    private static final int BUFFER = 64 << 10;

    private final CutNetwork network;
    private final NetworkNode to;
    private final ServerSocket listener;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile @Nullable InetSocketAddress target;

    CuttingProxy(CutNetwork network, NetworkNode to) throws IOException {
        this.network = network;
        this.to = to;
        this.listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
        daemon("proxy-accept", this::accept);
    }

    /** Its address, as {@code host:port}. */
    public String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /** Sets the node's address; until then connections are refused. */
    public void target(InetSocketAddress address) {
        target = address;
    }

    private static void daemon(String name, Runnable work) {
        final Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                final Socket socket = listener.accept();
                open.add(socket);
                daemon("proxy-there", () -> connect(socket));
            } catch (IOException e) {
                if (!listener.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private void connect(Socket near) {
        final Socket far = new Socket();
        open.add(far);
        try {
            final InetSocketAddress address = target;
            if (address != null) {
                final NetworkNode from =
                        network.origin((InetSocketAddress) near.getRemoteSocketAddress(), listener.getLocalPort());
                network.awaitOpen(from, to);
                network.awaitOpen(to, from);
                far.connect(address);
                far.setTcpNoDelay(true);
                near.setTcpNoDelay(true);
                daemon("proxy-back", () -> pass(far, near, to, from));
                pass(near, far, from, to);
            }
        } catch (IOException e) {
            // Nothing listens there now: the other end finds its connection closed.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            end(near, far);
        }
    }

    private void pass(Socket source, Socket sink, NetworkNode from, NetworkNode goal) {
        final byte[] bytes = new byte[BUFFER];
        try {
            final InputStream in = source.getInputStream();
            final OutputStream out = sink.getOutputStream();
            for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                network.awaitOpen(from, goal);
                out.write(bytes, 0, count);
            }
            network.awaitOpen(from, goal); // nor does the end of the stream arrive
        } catch (IOException e) {
            // Closed by one end: the other end is closed below.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            end(source, sink);
        }
    }

    private void end(Socket near, Socket far) {
        open.remove(near);
        open.remove(far);
        closeQuietly(near);
        closeQuietly(far);
    }

    private static void closeQuietly(Closeable socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        closeQuietly(listener);
        open.forEach(CuttingProxy::closeQuietly);
    }
}
