package org.rowankv.rdma.tcp;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;

/** Fabrics over the loopback interface, whose servers are all found at one address: their own, or a test's proxy. */
final class Loopback {
    static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    /** Servers above this number are unknown. */
    private static final int MAX_SERVER = 50;

    private Loopback() {}

    static TcpFabric fabric() {
        return fabric(settings -> settings);
    }

    static TcpFabric fabric(java.util.function.UnaryOperator<TcpFabricSettings> change) {
        final AtomicReference<InetSocketAddress> address = new AtomicReference<>(ANY_PORT);
        final TcpFabric fabric = new TcpFabric(change.apply(settings(address)));
        address.set(fabric.listenAddress());
        return fabric;
    }

    /** Of a fabric that finds every server at the address that the reference then holds. */
    static TcpFabricSettings settings(AtomicReference<InetSocketAddress> address) {
        return TcpFabricSettings.of(ANY_PORT, server -> server <= MAX_SERVER ? address.get() : null);
    }

    /** Times that no test waits for, but those it moves by hand. */
    static TcpFabricSettings patient(TcpFabricSettings settings, Clock clock) {
        return settings.withTimes(60_000, 0, 8, 1_000_000, clock);
    }

    static TcpFabricSettings patient(TcpFabricSettings settings) {
        return patient(settings, SystemClock.INSTANCE);
    }
}
