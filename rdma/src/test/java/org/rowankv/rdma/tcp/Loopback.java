package org.rowankv.rdma.tcp;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/** Fabrics over the loopback interface, whose servers are all found at one address: their own, or a test's proxy. */
final class Loopback {
    static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    /** Servers above this number are unknown. */
    private static final int MAX_SERVER = 50;

    /** For a connection that comes in the end: a machine with other work takes more than the usual seconds. */
    private static final int PATIENCE_MS = 60_000;

    private Loopback() {}

    static TcpFabric fabric() {
        return fabric(settings -> settings);
    }

    static TcpFabric fabric(UnaryOperator<TcpFabricSettings> change) {
        final AtomicReference<InetSocketAddress> address = new AtomicReference<>(ANY_PORT);
        final TcpFabric fabric = new TcpFabric(change.apply(settings(address)));
        address.set(fabric.listenAddress());
        return fabric;
    }

    /** Of a fabric that finds every server at the address that the reference then holds. */
    static TcpFabricSettings settings(AtomicReference<InetSocketAddress> address) {
        final TcpFabricSettings settings =
                TcpFabricSettings.of(ANY_PORT, server -> server <= MAX_SERVER ? address.get() : null);
        return patience(settings, PATIENCE_MS, settings.retryMs());
    }

    /** The same with few operations in flight: no more than have room in the segments of the suite, all together. */
    static TcpFabricSettings narrow(TcpFabricSettings settings) {
        return new TcpFabricSettings(
                settings.listen(),
                settings.peers(),
                settings.maxMessage(),
                16,
                settings.messages(),
                settings.maxRpc(),
                settings.keepsReserve(),
                settings.ackLevel(),
                settings.nativeTransport(),
                settings.maxConnections(),
                settings.connectTimeoutMs(),
                settings.retryMs(),
                settings.heartbeatMs(),
                settings.idleTimeoutMs(),
                settings.clock(),
                settings.authentication());
    }

    /** The same with other bounds of messages: their number on the way to one server, and the length of each. */
    static TcpFabricSettings messages(TcpFabricSettings settings, int messages, int maxRpc) {
        return new TcpFabricSettings(
                settings.listen(),
                settings.peers(),
                settings.maxMessage(),
                settings.completions(),
                messages,
                maxRpc,
                settings.keepsReserve(),
                settings.ackLevel(),
                settings.nativeTransport(),
                settings.maxConnections(),
                settings.connectTimeoutMs(),
                settings.retryMs(),
                settings.heartbeatMs(),
                settings.idleTimeoutMs(),
                settings.clock(),
                settings.authentication());
    }

    /** The same with other times for who does not answer: until it is given up, and until it is tried again. */
    static TcpFabricSettings patience(TcpFabricSettings settings, int connectTimeoutMs, int retryMs) {
        return new TcpFabricSettings(
                settings.listen(),
                settings.peers(),
                settings.maxMessage(),
                settings.completions(),
                settings.messages(),
                settings.maxRpc(),
                settings.keepsReserve(),
                settings.ackLevel(),
                settings.nativeTransport(),
                settings.maxConnections(),
                connectTimeoutMs,
                retryMs,
                settings.heartbeatMs(),
                settings.idleTimeoutMs(),
                settings.clock(),
                settings.authentication());
    }
}
