package org.rowankv.rdma.tcp;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ReceiverPlacedConformance;
import org.rowankv.rdma.landing.Loopback;

/** The suite of every fabric, run for TCP with queue pairs whose I/O is done by their owner. */
@Tag("jvm")
final class WorkerIoConformanceTest extends ReceiverPlacedConformance {
    @Override
    protected Fabric createFabric() {
        return OwnedFabric.turnedByCallers(Loopback.fabric(Loopback::narrow));
    }

    @Override
    protected boolean hearsLate() {
        return true;
    }
}
