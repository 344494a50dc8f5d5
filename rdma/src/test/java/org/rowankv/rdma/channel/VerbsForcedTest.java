package org.rowankv.rdma.channel;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ForcedConformance;
import org.rowankv.rdma.landing.Loopback;

/** Acknowledgements at FORCED of the fabric RDMA, mode landed. */
@Tag("jvm")
final class VerbsForcedTest extends ForcedConformance {
    private final ModelRdma model = new ModelRdma(4);

    @Override
    protected Fabric createFabric() {
        return model.checked(with -> {
            Loopback.narrow(with);
            with.ackLevel = AckLevel.FORCED;
        });
    }
}
