package org.rowankv.server.cluster;

import org.rowankv.placement.Routing;
import org.rowankv.server.Server;

/**
 * Where clients come in. Opened each time the server begins to serve, with the roles that it has then.
 *
 * <p>Called by the thread of the {@link ClusterServer}; must not block for long.
 */
public interface ClientDoor {
    /** No clients. */
    ClientDoor NONE = (server, routing, catalogue) -> () -> {};

    /** An open door. */
    interface Opened extends AutoCloseable {
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
}
