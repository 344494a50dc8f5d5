package org.rowankv.rdma;

/**
 * A way of moving bytes between servers. One per process and kind; set-up only, nothing here is on the data path.
 *
 * <p>Safe for any thread.
 */
public interface Fabric extends AutoCloseable {

    FabricCapabilities capabilities();

    /**
     * Opens this server's endpoint. Whoever could land something on an earlier endpoint of the same server is fenced
     * before this returns: a start begins by fencing everyone.
     *
     * @throws FabricException if that incarnation is open already, or the fabric is closed
     */
    Endpoint open(EndpointSettings settings);

    /** Closes every endpoint. */
    @Override
    void close();
}
