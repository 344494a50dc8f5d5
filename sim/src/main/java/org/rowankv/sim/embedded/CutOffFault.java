package org.rowankv.sim.embedded;

import java.util.List;

/** A fault that stops the next caller at some named point of an append, and fences its sender. */
final class CutOffFault implements Fault {
    private static final List<String> PLACES = List.of(
            "local.after-name",
            "local.after-hazard",
            "local.after-reserve",
            "local.after-word",
            "local.mid-copy",
            "local.mid-copy",
            "local.mid-copy",
            "local.before-publish",
            "local.after-publish");

    @Override
    public void strike(Simulation simulation, int a, int b) {
        if (simulation.plan().replicas() > 1) {
            simulation.points().cutOffAt(a % 4 == 0 ? PLACES.get(PLACES.size() - 1) : PLACES.get(b % PLACES.size()));
        }
    }
}
