package org.rowankv.rdma.channel;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.FenceConformance;

/** Fences of the fabric RDMA, mode landed. */
@Tag("jvm")
final class VerbsFenceTest extends FenceConformance {
    private final ModelRdma model = new ModelRdma(3);

    @Override
    protected Fabric createFabric() {
        return model.checked(usual -> {});
    }
}
