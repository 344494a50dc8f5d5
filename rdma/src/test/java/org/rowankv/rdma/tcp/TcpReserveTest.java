package org.rowankv.rdma.tcp;

import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ReserveConformance;
import org.rowankv.rdma.landing.Loopback;

/** The reserve of the TCP fabric. */
final class TcpReserveTest extends ReserveConformance {
    @Override
    protected Fabric createFabric() {
        return Loopback.fabric(with -> {
            Loopback.narrow(with);
            with.keepsReserve = true;
        });
    }
}
