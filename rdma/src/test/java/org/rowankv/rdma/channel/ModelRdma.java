package org.rowankv.rdma.channel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Consumer;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.LandingFabricSettings;
import org.rowankv.rdma.landing.Loopback;
import org.rowankv.rdma.verbs.ModelNetwork;
import org.rowankv.rdma.verbs.ModelVerbs;
import org.rowankv.runtime.SystemClock;

/** The fabric {@code rdma} on a model device, with small slots: frames are cut, and slots are short. */
public final class ModelRdma {
    public static final VerbsSettings SMALL = new VerbsSettings(8, 512, 64, 1000);

    private final ModelNetwork network;

    public ModelRdma(long seed) {
        this.network = new ModelNetwork(seed);
    }

    public ModelNetwork network() {
        return network;
    }

    public LandingFabric fabric(Consumer<LandingFabricSettings.Builder> change) {
        return fabric(change, SMALL);
    }

    public LandingFabric fabric(Consumer<LandingFabricSettings.Builder> change, VerbsSettings sizes) {
        return Loopback.fabric(change, new VerbsTransport(new ModelVerbs(network), sizes, SystemClock.INSTANCE));
    }

    /** A fabric that checks, once it is closed, what then holds always. */
    Fabric checked(Consumer<LandingFabricSettings.Builder> change) {
        final LandingFabric fabric = fabric(change);
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
                check();
            }
        };
    }

    void check() {
        assertThat(network.notReady()).as("SENDs without a receive").isZero();
        assertThat(network.queuePairs()).as("queue pairs left").isZero();
    }
}
