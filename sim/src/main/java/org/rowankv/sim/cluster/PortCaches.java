package org.rowankv.sim.cluster;

import java.util.BitSet;
import java.util.List;
import org.rowankv.server.catalogue.StoredCache;

/**
 * The caches that a client port knows since its server got its roles. What was destroyed before, also if only half, is not among them:
 * the log of a shard may have lost the entry that destroyed it.
 */
final class PortCaches {
    private final SimCoordinator coordinator;
    private final BitSet ids = new BitSet();

    PortCaches(SimCoordinator coordinator, List<StoredCache> known) {
        this.coordinator = coordinator;
        ids.set(0); // of requests that concern no cache
        add(known);
    }

    /** A port reads the catalogue again for an id that it does not know: here that takes no time, and does not fail. */
    boolean knows(int id) {
        if (!ids.get(id)) {
            add(coordinator.caches());
        }
        return ids.get(id);
    }

    private void add(List<StoredCache> caches) {
        caches.forEach(cache -> ids.set(cache.id()));
    }
}
