package org.rowankv.server.cluster;

import org.rowankv.placement.Configuration;
import org.rowankv.server.Server;

/**
 * Where clients come in. Opened each time the server begins to serve, with the roles that it has then.
 *
 * <p>Called by the thread of the {@link ClusterServer}; must not block for long.
 */
public interface ClientDoor {
    /** No clients. */
    ClientDoor NONE = (server, configuration, catalogue) -> () -> {};

    /** An open door. */
    interface Opened extends AutoCloseable {
        /** Lets nobody in any more. When it returns, no thread that came in here is inside the server. */
        @Override
        void close();
    }

    /** From now on that server serves in that configuration. */
    Opened open(Server server, Configuration configuration, ClusterCatalogue catalogue);
}
