package org.rowankv.rdma.tcp;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ReceiverPlacedConformance;
import org.rowankv.rdma.landing.Loopback;

/** The suite of every fabric, run for TCP, on the native transport where there is one. */
@Tag("jvm")
final class TcpFabricConformanceTest extends ReceiverPlacedConformance {
    @Override
    protected Fabric createFabric() {
        return Loopback.fabric(Loopback::narrow);
    }

    @Override
    protected boolean hearsLate() {
        return true;
    }
}
