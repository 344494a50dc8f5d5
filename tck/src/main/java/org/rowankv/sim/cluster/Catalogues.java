package org.rowankv.sim.cluster;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** The ids that caches were given: none is given to another cache, ever. For one change of the catalogue at a time. */
final class Catalogues {
    private final ClusterSimulation simulation;
    private final Map<String, Integer> live = new HashMap<>();
    /** Those of which somebody began to change something and never said how it ended. */
    private final Set<String> unknown = new HashSet<>();

    private final Set<Integer> given = new HashSet<>();

    Catalogues(ClusterSimulation simulation) {
        this.simulation = simulation;
    }

    void begun(String name) {
        unknown.add(name);
    }

    void created(String name, int id, boolean wasUnknown) {
        final Integer before = live.get(name);
        if (before == null || before != id) {
            if (before != null && !wasUnknown) {
                simulation.violation("cache '" + name + "' has id " + before + ", and then " + id);
            }
            if (!given.add(id)) {
                simulation.violation("id " + id + " was given twice, now to cache '" + name + "'");
            }
        }
        live.put(name, id);
        unknown.remove(name);
    }

    void destroyed(String name) {
        live.remove(name);
        unknown.remove(name);
    }

    boolean isUnknown(String name) {
        return unknown.contains(name);
    }
}
