package org.rowankv.sim.workload;

import java.util.HashMap;
import java.util.Map;
import org.rowankv.protocol.Version;

/**
 * Checks that no version appears in the replies of two mutations. Invariant: no version of a shard is assigned twice.
 */
final class VersionUniqueness {
    private record Place(int shard, long version) {}

    private record Owner(int client, long invokedNs) {}

    private final WorkloadHost host;
    private final Map<Place, Owner> given = new HashMap<>();

    VersionUniqueness(WorkloadHost host) {
        this.host = host;
    }

    void given(int shard, long version, int client, long invokedNs) {
        final Owner owner = new Owner(client, invokedNs);
        final Owner other = given.putIfAbsent(new Place(shard, version), owner);
        if (other != null && !other.equals(owner)) {
            host.violation("version " + Version.toString(version) + " of shard " + shard
                    + " was given out twice: to client " + other.client() + " and to client " + client);
        }
    }
}
