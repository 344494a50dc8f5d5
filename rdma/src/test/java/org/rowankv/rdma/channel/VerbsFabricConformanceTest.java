package org.rowankv.rdma.channel;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ReceiverPlacedConformance;
import org.rowankv.rdma.landing.Loopback;

/** The suite of every fabric, run for RDMA, mode landed, on a model device. */
@Tag("jvm")
final class VerbsFabricConformanceTest extends ReceiverPlacedConformance {
    private final ModelRdma model = new ModelRdma(1);

    @Override
    protected Fabric createFabric() {
        return model.checked(Loopback::narrow);
    }

    @Override
    protected boolean hearsLate() {
        return true;
    }
}
