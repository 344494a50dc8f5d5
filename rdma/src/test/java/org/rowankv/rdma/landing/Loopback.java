package org.rowankv.rdma.landing;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.rowankv.rdma.tcp.TcpTransport;
import org.rowankv.runtime.Clock;

/** Fabrics over the loopback interface, whose servers all have one address: their own, or a test's proxy. */
public final class Loopback {
    public static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    /** Servers above this number are unknown. */
    private static final int MAX_SERVER = 50;

    /** For a connection that is established in the end: a loaded machine needs more than the usual seconds. */
    private static final int PATIENCE_MS = 60_000;

    private Loopback() {}

    public static LandingFabric fabric() {
        return fabric(usual -> {});
    }

    public static LandingFabric fabric(Consumer<LandingFabricSettings.Builder> change) {
        return fabric(change, TcpTransport.choose(true));
    }

    public static LandingFabric fabric(Consumer<LandingFabricSettings.Builder> change, FabricTransport transport) {
        final AtomicReference<InetSocketAddress> address = new AtomicReference<>(ANY_PORT);
        final LandingFabric fabric = new LandingFabric(settings(address, change), transport);
        address.set(fabric.listenAddress());
        return fabric;
    }

    /** Of a fabric that finds every server at the address that the reference then holds. */
    public static LandingFabricSettings settings(AtomicReference<InetSocketAddress> address) {
        return settings(address, usual -> {});
    }

    public static LandingFabricSettings settings(
            AtomicReference<InetSocketAddress> address, Consumer<LandingFabricSettings.Builder> change) {
        return LandingFabricSettings.of(ANY_PORT, server -> server <= MAX_SERVER ? address.get() : null, with -> {
            with.connectTimeoutMs = PATIENCE_MS;
            change.accept(with);
        });
    }

    /** Few operations in flight: no more than have room in the segments of the suite, all together. */
    public static void narrow(LandingFabricSettings.Builder settings) {
        settings.completions = 16;
    }

    /** Heartbeats so often that a test moves its clock little between them, and no timeout in between. */
    public static void atLoop(LandingFabricSettings.Builder settings, Clock clock) {
        settings.retryMs = 0;
        settings.heartbeatMs = 8;
        settings.idleTimeoutMs = 1_000_000;
        settings.clock = clock;
    }
}
