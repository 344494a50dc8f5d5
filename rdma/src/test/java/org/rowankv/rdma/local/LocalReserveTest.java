package org.rowankv.rdma.local;

import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ReserveConformance;

/** The reserve of the local fabric. */
final class LocalReserveTest extends ReserveConformance {
    @Override
    protected Fabric createFabric() {
        return new LocalFabric(LocalFabricSettings.of(with -> with.keepsReserve = true));
    }
}
