package org.rowankv.rdma.tcp;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.rowankv.runtime.Clock;

/** Fabrics over the loopback interface, whose servers all have one address: their own, or a test's proxy. */
final class Loopback {
    static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    /** Servers above this number are unknown. */
    private static final int MAX_SERVER = 50;

    /** For a connection that is established in the end: a loaded machine needs more than the usual seconds. */
    private static final int PATIENCE_MS = 60_000;

    private Loopback() {}

    static TcpFabric fabric() {
        return fabric(usual -> {});
    }

    static TcpFabric fabric(Consumer<TcpFabricSettings.Builder> change) {
        final AtomicReference<InetSocketAddress> address = new AtomicReference<>(ANY_PORT);
        final TcpFabric fabric = new TcpFabric(settings(address, change));
        address.set(fabric.listenAddress());
        return fabric;
    }

    /** Of a fabric that finds every server at the address that the reference then holds. */
    static TcpFabricSettings settings(AtomicReference<InetSocketAddress> address) {
        return settings(address, usual -> {});
    }

    static TcpFabricSettings settings(
            AtomicReference<InetSocketAddress> address, Consumer<TcpFabricSettings.Builder> change) {
        return TcpFabricSettings.of(ANY_PORT, server -> server <= MAX_SERVER ? address.get() : null, with -> {
            with.connectTimeoutMs = PATIENCE_MS;
            change.accept(with);
        });
    }

    /** Few operations in flight: no more than have room in the segments of the suite, all together. */
    static void narrow(TcpFabricSettings.Builder settings) {
        settings.completions = 16;
    }

    /** Heartbeats so often that a test moves its clock little between them, and no timeout in between. */
    static void atLoop(TcpFabricSettings.Builder settings, Clock clock) {
        settings.retryMs = 0;
        settings.heartbeatMs = 8;
        settings.idleTimeoutMs = 1_000_000;
        settings.clock = clock;
    }
}
