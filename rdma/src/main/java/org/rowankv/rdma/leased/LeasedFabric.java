package org.rowankv.rdma.leased;

import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.rdma.channel.VerbsSettings;
import org.rowankv.rdma.channel.VerbsTransport;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.LandingFabricSettings;

/**
 * The fabric {@code rdma}, mode {@code leased}: one-sided. Connections, handshakes, credit and messages are those of {@link
 * LandingFabric} on the same device; entries go by WRITE.
 *
 * <p>Acknowledges at {@link AckLevel#LANDED}: a READ pushes bytes out of the receiver's card, not out of its caches.
 *
 * <p>Safe for any thread.
 */
public final class LeasedFabric implements Fabric {
    private final LandingFabric fabric;
    private final VerbsTransport transport;

    /**
     * Binds and listens.
     *
     * @param transport of a device, with {@link VerbsSettings#oneSided()} of at least {@link #oneSidedRequests}
     * @throws java.io.UncheckedIOException if it cannot listen at the address; the message contains it
     * @throws IllegalArgumentException if acknowledgements are to wait for devices
     */
    public LeasedFabric(LandingFabricSettings settings, VerbsTransport transport) {
        if (settings.ackLevel() != AckLevel.LANDED) {
            throw new IllegalArgumentException("the mode leased acknowledges at LANDED only");
        }
        this.transport = transport;
        this.fabric = new LandingFabric(settings, transport);
    }

    /**
     * For a caller that drives the NIC agent: nothing here blocks. It ends with that agent's event loop; it is not closed.
     *
     * @param connections of the same device as the transport
     */
    public LeasedFabric(LandingFabric connections, VerbsTransport transport) {
        this.transport = transport;
        this.fabric = connections;
    }

    /** WRITEs and READs in flight to one server. */
    public static int oneSidedRequests() {
        return WriteStream.BATCHES * WriteBatch.workRequests();
    }

    /** Segments that are leased to one server, or kept for it, at a time. */
    public static int leasesPerServer() {
        return LeaseGranter.MOST;
    }

    /** What carries connections and messages. */
    public LandingFabric connections() {
        return fabric;
    }

    @Override
    public FabricCapabilities capabilities() {
        return fabric.capabilities();
    }

    /**
     * As in the interface.
     *
     * @throws java.io.UncheckedIOException if the segments' memory cannot be exposed; the message says what to do
     */
    @Override
    public Endpoint open(EndpointSettings settings) {
        final LeasedQueue queue = new LeasedQueue(
                settings, transport, fabric.nic(), fabric.settings().clock());
        queue.expose();
        return new LeasedEndpoint(fabric.openEndpoint(settings, queue), queue, transport, fabric.settings());
    }

    @Override
    public void close() {
        fabric.close();
    }
}
