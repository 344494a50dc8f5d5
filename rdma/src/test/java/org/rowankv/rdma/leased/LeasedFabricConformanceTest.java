package org.rowankv.rdma.leased;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.FabricConformance;
import org.rowankv.rdma.landing.Loopback;

/** The suite of every fabric, run for RDMA, mode leased, on a model device. */
@Tag("jvm")
final class LeasedFabricConformanceTest extends FabricConformance {
    private final ModelLeases model = new ModelLeases(1);

    @Override
    protected Fabric createFabric() {
        return model.fabric(Loopback::narrow);
    }

    @Override
    protected boolean hearsLate() {
        return true;
    }
}
