package org.rowankv.rdma.tcp;

import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ForcedConformance;
import org.rowankv.rdma.landing.Loopback;

/** Acknowledgements at FORCED of the TCP fabric. */
final class TcpForcedTest extends ForcedConformance {
    @Override
    protected Fabric createFabric() {
        return Loopback.fabric(with -> {
            Loopback.narrow(with);
            with.ackLevel = AckLevel.FORCED;
        });
    }
}
