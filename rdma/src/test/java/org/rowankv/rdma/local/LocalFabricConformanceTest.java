package org.rowankv.rdma.local;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ReceiverPlacedConformance;

/** The suite of every fabric, run for the local one. */
@Tag("jvm")
final class LocalFabricConformanceTest extends ReceiverPlacedConformance {
    @Override
    protected Fabric createFabric() {
        return new LocalFabric();
    }
}
