package org.rowankv.server.membership;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.rowankv.rdma.MembershipView.Standing;

/** What each server of the cluster last announced, as this server read it. For any thread. */
public final class RegisteredServers {
    private final Map<Integer, ServerRegistration> last = new ConcurrentHashMap<>();

    public void put(int server, ServerRegistration said) {
        last.put(server, said);
    }

    /** Of a process that says it is that start of the server. */
    public Standing standing(int server, long incarnation, long nonce) {
        final ServerRegistration said = last.get(server);
        if (said == null || said.incarnation() != incarnation) {
            return Standing.UNKNOWN;
        }
        return said.nonce() == nonce ? Standing.ANNOUNCED : Standing.REFUTED;
    }
}
