package org.rowankv.rdma.disni;

import java.io.IOException;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.channel.VerbsSettings;
import org.rowankv.rdma.channel.VerbsTransport;
import org.rowankv.rdma.conformance.ReceiverPlacedConformance;
import org.rowankv.rdma.landing.Loopback;
import org.rowankv.rdma.verbs.ModelNetwork;
import org.rowankv.runtime.SystemClock;

/** The suite, run for RDMA, mode landed, through DiSNI's own classes, mocked down to a model device. */
final class DisniFabricConformanceTest extends ReceiverPlacedConformance {
    @Override
    protected Fabric createFabric() {
        try {
            final DisniVerbs verbs = new DisniVerbs(new MockedDisni(new ModelNetwork(1)).channel());
            return Loopback.fabric(
                    Loopback::narrow,
                    new VerbsTransport(verbs, new VerbsSettings(8, 512, 64, 1000), SystemClock.INSTANCE));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    protected boolean hearsLate() {
        return true;
    }
}
