package org.rowankv.server.membership;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Registered addresses of the cluster's servers, for other servers. Thread-safe. */
public final class ServerAddresses {
    private final Map<Integer, HostAndPort> addresses = new ConcurrentHashMap<>();

    public void put(int server, HostAndPort address) {
        addresses.put(server, address);
    }

    /** The registered address of that server; null if there is none. */
    @Nullable
    public HostAndPort of(int server) {
        return addresses.get(server);
    }

    /** The address, resolved now; null if that server is not registered. */
    public @Nullable InetSocketAddress addressOf(int server) {
        final HostAndPort address = addresses.get(server);
        return address == null ? null : address.resolve();
    }
}
