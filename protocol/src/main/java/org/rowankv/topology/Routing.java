package org.rowankv.topology;

import java.util.ArrayList;
import java.util.List;

/**
 * Routing of a client: the configuration and the addresses of its servers. Immutable.
 *
 * @param addresses by server id, each {@code host:port}, an IPv6 host in brackets; empty for a server that clients
 *     cannot reach now, and for one without roles: clients do not know which servers are excluded
 */
public record Routing(Configuration configuration, List<String> addresses) {
    public Routing {
        if (addresses.size() != configuration.serverCount()) {
            throw new IllegalArgumentException(
                    addresses.size() + " addresses of " + configuration.serverCount() + " servers");
        }
        final List<String> ofMembers = new ArrayList<>(addresses);
        configuration.excluded().forEach(server -> ofMembers.set(server, ""));
        addresses = List.copyOf(ofMembers);
    }

    public long term() {
        return configuration.term();
    }
}
