package org.rowankv.rdma.tcp;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ReceiverPlacedConformance;
import org.rowankv.rdma.landing.Loopback;

/** The suite of every fabric, run for TCP without native code. */
@Tag("jvm")
final class NioFabricConformanceTest extends ReceiverPlacedConformance {
    @Override
    protected Fabric createFabric() {
        return Loopback.fabric(Loopback::narrow, TcpTransport.choose(false));
    }

    @Override
    protected boolean hearsLate() {
        return true;
    }
}
