package org.rowankv.server.cluster;

import java.util.List;
import java.util.Map;
import org.rowankv.rdma.IoPoller;
import org.rowankv.server.engine.Server;
import org.rowankv.server.peer.ClusterCatalogue;
import org.rowankv.topology.Routing;

/**
 * Where clients come in. Opened each time the server begins to serve, with the roles that it has then.
 *
 * <p>Called by the thread of the {@link ClusterServer}; must not block for long.
 */
public interface ClientEndpoint extends AutoCloseable {
    /** No clients. */
    ClientEndpoint NONE = (server, routing, catalogue) -> () -> {};

    /** An open door. */
    interface Opened extends AutoCloseable {
        /**
         * The server loses its roles and may get others, of which {@link ClientEndpoint#open} tells: nobody is served, and whoever
         * comes may be kept waiting. Returns when nothing of the server is touched any more.
         */
        default void pause() {
            close();
        }

        /**
         * Lets nobody in any more. Need not wait for who is inside: operations under way are waited for afterwards, or fail
         * with an exception when the server has lost its roles.
         */
        @Override
        void close();
    }

    /**
     * From now on that server serves in that configuration.
     *
     * @throws java.io.UncheckedIOException if clients cannot come in; the server then stops
     */
    Opened open(Server server, Routing routing, ClusterCatalogue catalogue);

    /**
     * In whose turns the requests of clients come, if they do: one for each event loop, the same as long as there is the
     * door, which ends them when it is closed.
     */
    default List<IoPoller> ios() {
        return List.of();
    }

    /** What has come in so far, by name. */
    default Map<String, Long> counts() {
        return Map.of();
    }

    /** The server has come to its end: nobody is kept waiting any more. */
    @Override
    default void close() {}
}
