package org.rowankv.rdma.local;

import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ForcedConformance;

/** Acknowledgements at FORCED of the local fabric. */
final class LocalForcedTest extends ForcedConformance {
    @Override
    protected Fabric createFabric() {
        return new LocalFabric(LocalFabricSettings.of(with -> with.ackLevel = AckLevel.FORCED));
    }
}
