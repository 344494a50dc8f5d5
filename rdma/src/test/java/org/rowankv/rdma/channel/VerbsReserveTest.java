package org.rowankv.rdma.channel;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ReserveConformance;
import org.rowankv.rdma.landing.Loopback;

/** The reserve of the fabric RDMA, mode landed. */
@Tag("jvm")
final class VerbsReserveTest extends ReserveConformance {
    private final ModelRdma model = new ModelRdma(5);

    @Override
    protected Fabric createFabric() {
        return model.checked(with -> {
            Loopback.narrow(with);
            with.keepsReserve = true;
        });
    }
}
