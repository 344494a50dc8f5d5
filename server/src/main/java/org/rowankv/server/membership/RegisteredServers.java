package org.rowankv.server.membership;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.rowankv.rdma.MembershipView.Standing;

/** The last registration of each server, as read by this server. Thread-safe. */
public final class RegisteredServers {
    private final Map<Integer, ServerRegistration> last = new ConcurrentHashMap<>();

    public void put(int server, ServerRegistration registration) {
        last.put(server, registration);
    }

    /** The last incarnation; 0 if there is none. */
    public long incarnation(int server) {
        final ServerRegistration registration = last.get(server);
        return registration == null ? 0 : registration.incarnation();
    }

    /** Standing of a process that claims to be that incarnation of the server. */
    public Standing standing(int server, long incarnation, long nonce) {
        final ServerRegistration registration = last.get(server);
        if (registration == null || registration.incarnation() != incarnation) {
            return Standing.UNKNOWN;
        }
        return registration.nonce() == nonce ? Standing.ANNOUNCED : Standing.REFUTED;
    }
}
