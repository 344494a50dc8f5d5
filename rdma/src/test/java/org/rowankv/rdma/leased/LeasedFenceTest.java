package org.rowankv.rdma.leased;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.FenceConformance;

/** Fences of the fabric RDMA, mode leased. */
@Tag("jvm")
final class LeasedFenceTest extends FenceConformance {
    private final ModelLeases model = new ModelLeases(3);

    @Override
    protected Fabric createFabric() {
        return model.fabric(usual -> {});
    }
}
