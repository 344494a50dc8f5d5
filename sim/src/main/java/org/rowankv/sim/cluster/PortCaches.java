package org.rowankv.sim.cluster;

import java.util.BitSet;
import java.util.List;
import org.rowankv.server.catalogue.StoredCache;

/**
 * The caches known to a client port since its server got its roles. Excludes caches destroyed before, even partly: the
 * log of a shard may have lost the entry that destroyed them.
 */
final class PortCaches {
    private final SimCoordinator coordinator;
    private final BitSet ids = new BitSet();

    PortCaches(SimCoordinator coordinator, List<StoredCache> known) {
        this.coordinator = coordinator;
        ids.set(0); // for requests without a cache
        add(known);
    }

    /** A port reads the catalogue again for an unknown id: here that takes no time, and does not fail. */
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
