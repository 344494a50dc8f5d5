package org.rowankv.server.engine;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.rowankv.rdma.Endpoint;
import org.rowankv.server.replication.BackupConnections;
import org.rowankv.server.shard.CurrentRoles;

/** Factory for the connections of one server to its backups: one set per writer, all over one endpoint. */
final class ServerLinks {
    private final ServerContext parts;
    private final Endpoint endpoint;
    private final CurrentRoles roles;
    private final List<BackupConnections> all = new CopyOnWriteArrayList<>();

    ServerLinks(ServerContext parts, Endpoint endpoint, CurrentRoles roles) {
        this.parts = parts;
        this.endpoint = endpoint;
        this.roles = roles;
    }

    /** Creates the connections of one more writer. */
    BackupConnections make() {
        final BackupConnections made = makeShortLived();
        all.add(made);
        return made;
    }

    /** Creates connections for a writer that comes and goes: they are in no statistics. */
    BackupConnections makeShortLived() {
        return new BackupConnections(endpoint, roles.get(), parts.clock(), parts.errors(), parts.pressure()::wakeUp);
    }

    /** Those made so far; grows. Any thread. */
    List<BackupConnections> all() {
        return all;
    }
}
