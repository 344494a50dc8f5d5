package org.rowankv.rdma.disni;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.FabricConformance;
import org.rowankv.rdma.landing.Loopback;
import org.rowankv.rdma.leased.ModelLeases;
import org.rowankv.rdma.verbs.ModelNetwork;

/** The suite of every fabric, run for RDMA, mode leased, through DiSNI's mocked classes. */
@Tag("jvm")
final class DisniLeasedConformanceTest extends FabricConformance {
    @Override
    protected Fabric createFabric() {
        try {
            final MockedDisni disni = new MockedDisni(new ModelNetwork(2));
            return ModelLeases.fabric(Loopback::narrow, new DisniVerbs(disni.channel()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    protected boolean hearsLate() {
        return true;
    }
}
