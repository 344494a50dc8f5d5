package org.rowankv.rdma.leased;

import org.junit.jupiter.api.Tag;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.AllocationConformance;
import org.rowankv.rdma.verbs.Wire;

/** Of the fabric {@code rdma}, mode {@code leased}. */
@Tag("races")
@Tag("jvm")
final class LeasedAllocationTest extends AllocationConformance {
    @Override
    protected Fabric open(Wire device) {
        return ModelLeases.fabric(usual -> {}, device);
    }
}
