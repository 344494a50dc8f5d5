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
import java.util.function.Consumer;
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
 * Makes a connection on the calling thread, whether or not that is interrupted. Its time is bounded, but for the lookup of a name:
 * the system's resolver takes as long as it takes.
 */
final class Handshake {
    /** The clock may be another one than that by which threads wait, and a closed client waits for no server. */
    private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final String OTHER_PORT = ": is that the port for clients (--listen)?";

    private Handshake() {}

    /**
     * Connects and introduces itself.
     *
     * @param clusterId that is meant; 0: whichever it is
     * @param isStopped looked at again and again: whether the connection is not needed any more
     * @throws IOException if there is no such connection to be had; says why
     */
    static NetConnection connect(
            String address,
            long clusterId,
            NetSettings settings,
            Clock clock,
            BooleanSupplier isStopped,
            Consumer<byte[]> onRouting)
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
            // What follows the answer is for the connection to read.
            final HandshakeInput answer = new HandshakeInput(WirePort.CLIENTS, false, HandshakeDescriptor.MAX_REFUSAL);
            while (!answer.isComplete()) {
                if (read(channel, answer, address) == 0) {
                    interrupted |= await(selector, endNs, clock, address, isStopped);
                }
            }
            if (HandshakeDescriptor.code(answer.frame()) != HandshakeDescriptor.ACCEPTED) {
                throw new IOException(address + " refused: " + HandshakeDescriptor.text(answer.frame()));
            }
            final ClientWelcome welcome = ClientHandshakeDescriptor.readWelcome(answer.frame());
            done = true;
            return new NetConnection(channel, selector, key, welcome, settings, clock, onRouting);
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

    private static int read(SocketChannel channel, HandshakeInput answer, String address)
            throws IOException, WireException {
        final int count;
        try {
            count = answer.readFrom(channel);
        } catch (IOException e) {
            throw new IOException(address + " broke the connection instead of welcoming" + OTHER_PORT, e);
        }
        if (count < 0) {
            throw new IOException(address + " closed the connection instead of welcoming" + OTHER_PORT);
        }
        return count;
    }

    /** Waits until the channel is ready for what it is registered for; whether it was interrupted. */
    private static boolean await(
            Selector selector, long deadlineNs, Clock clock, String address, BooleanSupplier isStopped)
            throws IOException {
        if (isStopped.getAsBoolean()) {
            throw new IOException("the client was closed");
        }
        final long leftNs = deadlineNs - clock.nanoTime();
        if (leftNs <= 0) {
            throw new SocketTimeoutException(address + " does not answer");
        }
        final boolean interrupted = Thread.interrupted();
        selector.select(ready -> {}, Math.max(1, TimeUnit.NANOSECONDS.toMillis(Math.min(SLICE_NS, leftNs))));
        return interrupted;
    }

    /** Of {@code host:port}, an IPv6 host in brackets; throws IllegalArgumentException if it is not of that form. */
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
