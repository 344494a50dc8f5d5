package org.rowankv.rdma.leased;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.rdma.channel.VerbsSettings;
import org.rowankv.rdma.channel.VerbsTransport;
import org.rowankv.rdma.landing.LandingFabricSettings;
import org.rowankv.rdma.landing.Loopback;
import org.rowankv.rdma.verbs.ModelNetwork;
import org.rowankv.rdma.verbs.ModelVerbs;
import org.rowankv.rdma.verbs.Verbs;
import org.rowankv.runtime.SystemClock;

/** The fabric {@code rdma}, mode {@code leased}, on a model device. */
public final class ModelLeases {
    private static final VerbsSettings SMALL = new VerbsSettings(8, 512, 64, 1000, LeasedFabric.oneSidedRequests());

    private final ModelNetwork network;

    public ModelLeases(long seed) {
        this.network = new ModelNetwork(seed);
    }

    ModelNetwork network() {
        return network;
    }

    /** A fabric that checks, once it is closed, what then holds always. */
    Fabric fabric(Consumer<LandingFabricSettings.Builder> change) {
        final LeasedFabric fabric = fabric(change, new ModelVerbs(network));
        return new Fabric() {
            @Override
            public FabricCapabilities capabilities() {
                return fabric.capabilities();
            }

            @Override
            public Endpoint open(EndpointSettings settings) {
                return fabric.open(settings);
            }

            @Override
            public void close() {
                fabric.close();
                assertThat(network.notReady()).as("SENDs without a receive").isZero();
                assertThat(network.queuePairs()).as("queue pairs left").isZero();
            }
        };
    }

    /** Of a process of its own, in the network of the others. */
    public static LeasedFabric fabric(LandingFabricSettings settings, Verbs device) {
        return new LeasedFabric(settings, new VerbsTransport(device, SMALL, SystemClock.INSTANCE));
    }

    public static LeasedFabric fabric(Consumer<LandingFabricSettings.Builder> change, Verbs device) {
        final AtomicReference<InetSocketAddress> address = new AtomicReference<>(Loopback.ANY_PORT);
        final LeasedFabric fabric = new LeasedFabric(
                Loopback.settings(address, change), new VerbsTransport(device, SMALL, SystemClock.INSTANCE));
        address.set(fabric.connections().listenAddress());
        return fabric;
    }
}
