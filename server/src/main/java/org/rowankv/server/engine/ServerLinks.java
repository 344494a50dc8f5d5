package org.rowankv.server.engine;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.rdma.Endpoint;
import org.rowankv.server.replication.Links;

/** The links of one server to its backups: one set for each writer, all over one endpoint. */
final class ServerLinks {
    private final ServerParts parts;
    private final Endpoint endpoint;
    private final List<Links> all = new ArrayList<>();

    ServerLinks(ServerParts parts, Endpoint endpoint) {
        this.parts = parts;
        this.endpoint = endpoint;
    }

    /** A set of links for one more writer. */
    Links make() {
        final Links made = new Links(endpoint, parts.configuration(), parts.clock(), parts.errors(), parts.wakeUp());
        all.add(made);
        return made;
    }

    List<Links> all() {
        return List.copyOf(all);
    }
}
