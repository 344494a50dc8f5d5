package org.rowankv.driver.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.HandshakeInput;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor.ClientHello;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor.ClientWelcome;
import org.rowankv.runtime.Clock;

/**
 * Client side of the handshake: establishes a connection on the calling thread, unaffected by interrupts. Bounded in
 * time, except for the system's name resolution.
 */
final class Handshake {
    /**
     * Bounds waits because the clock may differ from the clock of thread waits, and because a closed client stops
     * waiting.
     */
    private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final String OTHER_PORT = ": is that the port for clients (--listen)?";

    private Handshake() {}

    /**
     * Connects and sends the hello.
     *
     * @param clusterId expected cluster; 0: any
     * @param isStopped polled: whether the connection is no longer needed
     * @throws IOException if the connection cannot be established; the message says why
     */
    static NetConnection connect(
            String address,
            long clusterId,
            NetSettings settings,
            Clock clock,
            BooleanSupplier isStopped,
            SessionRoutes routes)
            throws IOException {
        final InetSocketAddress to = addressOf(address);
        if (to.isUnresolved()) {
            throw new UnknownHostException("unknown host: " + address);
        }
        final SocketChannel channel = SocketChannel.open();
        Selector selector = null;
        boolean interrupted = false;
        boolean done = false;
        try {
            selector = Selector.open();
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            final long endNs = clock.nanoTime() + settings.connectNs();
            final SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT);
            channel.connect(to);
            while (!channel.finishConnect()) {
                interrupted |= await(selector, endNs, clock, address, isStopped);
            }
            key.interestOps(SelectionKey.OP_WRITE);
            final ByteBuffer hello = ClientHandshakeDescriptor.hello(new ClientHello(clusterId, settings.maxFrame()));
            while (hello.hasRemaining()) {
                if (channel.write(hello) == 0) {
                    interrupted |= await(selector, endNs, clock, address, isStopped);
                }
            }
            key.interestOps(SelectionKey.OP_READ);
            // The connection reads the bytes after the welcome.
            final HandshakeInput input = new HandshakeInput(WirePort.CLIENTS, false, HandshakeDescriptor.MAX_REFUSAL);
            while (!input.isComplete()) {
                if (read(channel, input, address) == 0) {
                    interrupted |= await(selector, endNs, clock, address, isStopped);
                }
            }
            if (HandshakeDescriptor.code(input.frame()) != HandshakeDescriptor.ACCEPTED) {
                throw new IOException(address + " refused: " + HandshakeDescriptor.text(input.frame()));
            }
            final ClientWelcome welcome = ClientHandshakeDescriptor.readWelcome(input.frame());
            done = true;
            return new NetConnection(channel, selector, key, welcome, settings, clock, routes);
        } catch (WireException e) {
            throw new IOException(
                    address + ": " + e.text() + (e.fault() == WireFault.OTHER_VERSION ? "" : OTHER_PORT), e);
        } finally {
            if (!done) {
                channel.close();
                if (selector != null) {
                    selector.close();
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static int read(SocketChannel channel, HandshakeInput input, String address)
            throws IOException, WireException {
        final int count;
        try {
            count = input.readFrom(channel);
        } catch (IOException e) {
            throw new IOException(address + " broke the connection during the handshake" + OTHER_PORT, e);
        }
        if (count < 0) {
            throw new IOException(address + " closed the connection during the handshake" + OTHER_PORT);
        }
        return count;
    }

    /** Waits until the channel is ready for its registered operation; returns whether it was interrupted. */
    private static boolean await(
            Selector selector, long deadlineNs, Clock clock, String address, BooleanSupplier isStopped)
            throws IOException {
        if (isStopped.getAsBoolean()) {
            throw new IOException("the client was closed");
        }
        final long leftNs = deadlineNs - clock.nanoTime();
        if (leftNs <= 0) {
            throw new SocketTimeoutException(address + " did not respond in time");
        }
        final boolean interrupted = Thread.interrupted();
        selector.select(ready -> {}, Math.max(1, TimeUnit.NANOSECONDS.toMillis(Math.min(SLICE_NS, leftNs))));
        return interrupted;
    }

    /** Parses {@code host:port}, an IPv6 host in brackets; otherwise throws IllegalArgumentException. */
    static InetSocketAddress addressOf(String text) {
        final int colon = text.lastIndexOf(':');
        final boolean bracketed = text.startsWith("[") && colon > 0 && text.charAt(colon - 1) == ']';
        if (colon < 1 || !bracketed && text.indexOf(':') != colon) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is no address: write host:port, or [IPv6 address]:port");
        }
        final int port;
        try {
            port = Integer.parseInt(text.substring(colon + 1));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("\"" + text + "\" has no port: write host:port", e);
        }
        if (port < 1 || port > 0xffff) {
            throw new IllegalArgumentException("\"" + text + "\": a port is 1 to 65535");
        }
        return new InetSocketAddress(bracketed ? text.substring(1, colon - 1) : text.substring(0, colon), port);
    }
}
