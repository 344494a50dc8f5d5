package org.rowankv.rdma.channel;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.ReceiverPlacedConformance;
import org.rowankv.rdma.landing.Loopback;
import org.rowankv.rdma.landing.RawPeer;
import org.rowankv.rdma.landing.wire.PeerAuthentication;
import org.rowankv.runtime.SecureSeed;

/** As {@link VerbsFabricConformanceTest}, between servers that prove the cluster's secret. */
@Tag("jvm")
final class VerbsSecretConformanceTest extends ReceiverPlacedConformance {
    private final ModelRdma model = new ModelRdma(2);

    @Override
    protected Fabric createFabric() {
        return model.checked(with -> {
            Loopback.narrow(with);
            with.authentication = PeerAuthentication.of(RawPeer.SECRET, SecureSeed::next);
        });
    }

    @Override
    protected boolean hearsLate() {
        return true;
    }
}
