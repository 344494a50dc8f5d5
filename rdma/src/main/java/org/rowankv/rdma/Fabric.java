package org.rowankv.rdma;

/**
 * Transport of bytes between servers. One per process and kind; for set-up only, not on the data path.
 *
 * <p>Safe for any thread.
 */
public interface Fabric extends AutoCloseable {

    FabricCapabilities capabilities();

    /**
     * Opens this server's endpoint. Before it returns, all senders that could land on an earlier endpoint of the same
     * server are fenced.
     *
     * @throws FabricException if that incarnation is open already, or the fabric is closed
     */
    Endpoint open(EndpointSettings settings);

    /** Closes every endpoint. */
    @Override
    void close();
}
