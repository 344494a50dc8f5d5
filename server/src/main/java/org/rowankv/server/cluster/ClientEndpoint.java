package org.rowankv.server.cluster;

import java.util.List;
import java.util.Map;
import org.rowankv.rdma.IoPoller;
import org.rowankv.server.engine.Server;
import org.rowankv.server.peer.ClusterCatalogue;
import org.rowankv.topology.Routing;

/**
 * The part of a cluster's server that accepts clients. Opened each time the server begins to serve, with its current
 * roles.
 *
 * <p>Called by the thread of the {@link ClusterServer}; must not block for long.
 */
public interface ClientEndpoint extends AutoCloseable {
    /** No clients. */
    ClientEndpoint NONE = (server, routing, catalogue) -> () -> {};

    /** An open endpoint. */
    interface Opened extends AutoCloseable {
        /**
         * Suspends service; new requests are deferred until {@link ClientEndpoint#open} supplies new roles. Returns
         * when the server is no longer accessed.
         */
        default void pause() {
            close();
        }

        /** Sends connected clients the other roles, which are in force. */
        default void route(Routing routing) {}

        /**
         * Stops accepting clients. Pending requests need not end first: the server waits for them afterwards, or they
         * fail when it has lost its roles.
         */
        @Override
        void close();
    }

    /**
     * Serves that server in that configuration from now on.
     *
     * @throws java.io.UncheckedIOException if the endpoint cannot be opened; the server then stops
     */
    Opened open(Server server, Routing routing, ClusterCatalogue catalogue);

    /**
     * I/O pollers, one per event loop; owned and closed by this endpoint. Empty if requests do not run on event loops.
     */
    default List<IoPoller> ios() {
        return List.of();
    }

    /** Arrived requests by kind. */
    default Map<String, Long> counts() {
        return Map.of();
    }

    /** The server has ended: no request is deferred any more. */
    @Override
    default void close() {}
}
