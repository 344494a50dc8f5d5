package org.rowankv.server.engine;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.rdma.Endpoint;
import org.rowankv.server.replication.BackupConnections;

/** Factory for the connections of one server to its backups: one set per writer, all over one endpoint. */
final class ServerLinks {
    private final ServerContext parts;
    private final Endpoint endpoint;
    private final List<BackupConnections> all = new ArrayList<>();

    ServerLinks(ServerContext parts, Endpoint endpoint) {
        this.parts = parts;
        this.endpoint = endpoint;
    }

    /** Creates the connections of one more writer. */
    BackupConnections make() {
        final BackupConnections made =
                new BackupConnections(endpoint, parts.configuration(), parts.clock(), parts.errors(), parts.wakeUp());
        all.add(made);
        return made;
    }

    List<BackupConnections> all() {
        return List.copyOf(all);
    }
}
