package org.rowankv.bench.trace;

import java.util.Map;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.rdma.LandingForce;

/** The fabric {@code local}, whose senders report each landing as if it had to be forced. */
final class TappedFabric implements Fabric {
    private final Fabric below;
    private final Map<Integer, LandingForce> landings;

    /** @param below a fabric that acknowledges at FORCED */
    TappedFabric(Fabric below, Map<Integer, LandingForce> landings) {
        this.below = below;
        this.landings = landings;
    }

    @Override
    public FabricCapabilities capabilities() {
        return below.capabilities();
    }

    @Override
    public Endpoint open(EndpointSettings settings) {
        return below.open(new EndpointSettings(
                settings.serverId(),
                settings.incarnation(),
                settings.clusterId(),
                settings.region(),
                settings.segmentLength(),
                settings.segmentBase(),
                settings.maxPosted(),
                settings.credit(),
                settings.messages(),
                settings.view(),
                landings.get(settings.serverId())));
    }

    @Override
    public void close() {
        below.close();
    }
}
