package org.rowankv.sim.cluster;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.sim.device.SimMemory;

/** Pool of the hosts' memories, reused between simulations because they are large. Confined to one thread. */
final class MemoryPool {
    private static final int MOST = 9;

    private final List<SimMemory> kept = new ArrayList<>();
    private final List<SimMemory> used = new ArrayList<>();

    /** The next simulation begins. */
    void begin() {
        kept.addAll(used);
        used.clear();
        if (kept.size() > MOST) {
            kept.subList(0, kept.size() - MOST).clear();
        }
    }

    SimMemory take(AreaSettings settings) {
        for (SimMemory candidate : kept) {
            if (candidate.suits(settings)) {
                kept.remove(candidate);
                // Not before: in a simulation the code of an ended process may be stopped below that of the next ones.
                candidate.allHaveLeft();
                candidate.wipe();
                used.add(candidate);
                return candidate;
            }
        }
        final SimMemory made = new SimMemory(settings);
        used.add(made);
        return made;
    }
}
