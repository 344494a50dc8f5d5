package org.rowankv.topology;

import java.util.List;

/**
 * Routing of a client: the configuration and the addresses of its servers. Immutable.
 *
 * @param addresses by server id, each {@code host:port}, an IPv6 host in brackets; empty for a server that clients
 *     cannot reach now
 */
public record Routing(Configuration configuration, List<String> addresses) {
    public Routing {
        addresses = List.copyOf(addresses);
        if (addresses.size() != configuration.serverCount()) {
            throw new IllegalArgumentException(
                    addresses.size() + " addresses of " + configuration.serverCount() + " servers");
        }
    }

    public long term() {
        return configuration.term();
    }
}
