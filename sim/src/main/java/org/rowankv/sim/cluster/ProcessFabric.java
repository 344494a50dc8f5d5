package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.channel.VerbsSettings;
import org.rowankv.rdma.channel.VerbsTransport;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.LandingFabricSettings;
import org.rowankv.rdma.leased.LeasedFabric;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.sim.verbs.SimVerbs;

/** The fabric of one process, as shipped, on a simulated network or RDMA device. */
final class ProcessFabric {
    /** Small: frames are cut, and slots run out. */
    private static final int SLOTS = 8;

    private static final int SLOT_LENGTH = 512;
    private static final int CONNECTIONS = 256;
    private static final int LINGER_MS = 1000;

    private final Fabric fabric;
    private final LandingFabric connections;
    private final @Nullable SimVerbs device;

    private ProcessFabric(Fabric fabric, LandingFabric connections, @Nullable SimVerbs device) {
        this.fabric = fabric;
        this.connections = connections;
        this.device = device;
    }

    static ProcessFabric open(ClusterSimulation simulation, SimProcess process, LandingFabricSettings settings) {
        final SimNetworkLinks wire = simulation.wire();
        final SimNic nic = process.nic();
        final FabricKind kind = simulation.clusterPlan().fabric();
        if (kind == FabricKind.TCP) {
            final LandingFabric tcp = new LandingFabric(
                    settings,
                    nic,
                    () -> new SimChannel(wire, process, null),
                    () -> new SimListener(wire, process),
                    new HeapBuffers());
            return new ProcessFabric(tcp, tcp, null);
        }
        final boolean isLeased = kind == FabricKind.RDMA_LEASED;
        final SimVerbs device = wire.verbs().device(process.host().number(), nic::changed);
        final VerbsTransport transport = new VerbsTransport(
                device,
                new VerbsSettings(
                        SLOTS, SLOT_LENGTH, CONNECTIONS, LINGER_MS, isLeased ? LeasedFabric.oneSidedRequests() : 0),
                settings.clock());
        nic.uses(device, transport.handlers().newHandler(nic));
        final LandingFabric connections =
                new LandingFabric(settings, nic, transport.sockets(), transport.listeners(), new HeapBuffers());
        return new ProcessFabric(
                isLeased ? new LeasedFabric(connections, transport) : connections, connections, device);
    }

    Fabric fabric() {
        return fabric;
    }

    /** Number of peers disconnected for that. */
    long faults(WireFault fault) {
        return connections.faults(fault);
    }

    /** Its process has ended. @param isSilent whether no other end is notified */
    void end(boolean isSilent) {
        if (device != null) {
            device.end(isSilent);
        }
    }
}
