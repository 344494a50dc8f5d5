package org.rowankv.rdma.channel;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.AllocationConformance;
import org.rowankv.rdma.landing.Loopback;
import org.rowankv.rdma.verbs.Wire;
import org.rowankv.runtime.SystemClock;

/** Of the fabric {@code rdma}, mode {@code landed}. */
@Tag("races")
@Tag("jvm")
final class VerbsAllocationTest extends AllocationConformance {
    @Override
    protected Fabric open(Wire device) {
        return Loopback.fabric(usual -> {}, new VerbsTransport(device, VerbsSettings.usual(), SystemClock.INSTANCE));
    }
}
