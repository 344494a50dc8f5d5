package org.rowankv.rdma.local;

import java.util.List;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.conformance.OneSidedFenceConformance;

/** Fences of the local fabric, with the sender stopped at each of its steps. */
final class LocalFenceTest extends OneSidedFenceConformance {
    @Override
    protected Fabric createFabric() {
        return new LocalFabric();
    }

    @Override
    protected List<String> sendPoints() {
        return List.of(
                "local.before-read",
                "local.after-read",
                "local.after-name",
                "local.after-permission",
                "local.after-help",
                "local.after-hazard",
                "local.after-reserve",
                "local.after-word",
                "local.mid-copy",
                "local.before-publish",
                "local.after-publish");
    }

    @Override
    protected List<String> holdingPoints() {
        return sendPoints().subList(2, sendPoints().size());
    }

    @Override
    protected String beforeReservation() {
        return "local.after-hazard";
    }

    @Override
    protected String afterReservation() {
        return "local.after-reserve";
    }

    @Override
    protected List<String> fencePoints() {
        return List.of("local.fence-marked", "local.fence-raised", "local.fence-helped");
    }
}
