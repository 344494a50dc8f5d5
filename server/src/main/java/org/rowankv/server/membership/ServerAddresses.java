package org.rowankv.server.membership;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Where the servers of the cluster listen for servers, as they last said. For any thread. */
public final class ServerAddresses {
    private final Map<Integer, HostAndPort> addresses = new ConcurrentHashMap<>();

    public void put(int server, HostAndPort address) {
        addresses.put(server, address);
    }

    /** The address as that server said it; null if it has not. */
    @Nullable
    public HostAndPort of(int server) {
        return addresses.get(server);
    }

    /** The address, its name looked up now; null if no such server has said where it is. */
    public @Nullable InetSocketAddress addressOf(int server) {
        final HostAndPort address = addresses.get(server);
        return address == null ? null : address.resolve();
    }
}
