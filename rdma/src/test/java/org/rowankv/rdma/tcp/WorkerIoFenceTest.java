package org.rowankv.rdma.tcp;

import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.FenceConformance;
import org.rowankv.rdma.landing.Loopback;

/** Fences of the TCP fabric, with queue pairs that belong to a worker and are used by other threads. */
final class WorkerIoFenceTest extends FenceConformance {
    @Override
    protected Fabric createFabric() {
        return OwnedFabric.turnedInBackground(Loopback.fabric());
    }
}
