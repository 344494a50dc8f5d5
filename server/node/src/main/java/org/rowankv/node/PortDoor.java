package org.rowankv.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.rowankv.placement.Routing;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.server.Server;
import org.rowankv.server.client.ClientPort;
import org.rowankv.server.client.ClientPortSettings;
import org.rowankv.server.client.PortCounts;
import org.rowankv.server.cluster.ClientDoor;
import org.rowankv.server.cluster.ClusterCatalogue;

/**
 * Lets clients in at a port, which is there while the server serves.
 *
 * @param counts what all ports of this process did, one after the other
 */
record PortDoor(ClientPortSettings settings, Clock clock, ErrorLog errors, PortCounts counts) implements ClientDoor {
    @Override
    public Opened open(Server server, Routing routing, ClusterCatalogue catalogue) {
        try {
            final ClientPort port = ClientPort.bind(server, catalogue, settings, clock, errors, counts);
            final ClientPort serving = port.serve(routing);
            return serving::close;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
