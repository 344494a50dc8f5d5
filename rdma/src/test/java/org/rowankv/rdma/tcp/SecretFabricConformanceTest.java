package org.rowankv.rdma.tcp;

import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ReceiverPlacedConformance;
import org.rowankv.rdma.landing.Loopback;
import org.rowankv.rdma.landing.RawPeer;
import org.rowankv.rdma.landing.wire.PeerAuthentication;
import org.rowankv.runtime.SecureSeed;

/** The suite of every fabric, run for TCP between servers that prove the cluster's secret. */
final class SecretFabricConformanceTest extends ReceiverPlacedConformance {
    @Override
    protected Fabric createFabric() {
        return Loopback.fabric(with -> {
            Loopback.narrow(with);
            with.authentication = PeerAuthentication.of(RawPeer.SECRET, SecureSeed::next);
        });
    }

    @Override
    protected boolean hearsLate() {
        return true;
    }
}
