package org.rowankv.server.embedded;

import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.OpenOverrides;

/** Areas in memory that outlives the cluster. */
record MemoryStorage(EmbeddedSettings settings, EmbeddedContext.Memories memories, long clusterId, RandomSource random)
        implements AreaDiscovery.Place {
    @Override
    public Area open(int server, boolean acceptUnclean) {
        final AreaSettings areaSettings = StoreFiles.anonymousArea(settings, server, clusterId);
        return Area.open(areaSettings, memories.memory(areaSettings), new OpenOverrides(acceptUnclean, false));
    }

    @Override
    public Area createAgain(int server) {
        final AreaSettings areaSettings = StoreFiles.anonymousArea(settings, server, clusterId);
        return Area.create(areaSettings, memories.anew(areaSettings), random);
    }

    @Override
    public void putBack(int server) {
        // Nothing was moved away.
    }

    @Override
    public boolean putBackUnfinished(int server) {
        return false; // nothing was moved away
    }

    @Override
    public String name() {
        return "memory";
    }
}
