package org.rowankv.sim.embedded;

import java.util.List;

/**
 * A fault that ends the process just after a point is next reached. At these points much has begun, and little is known
 * to be durable.
 */
final class CrashBehindFault implements Fault {
    private static final List<String> PLACES = List.of(
            "clean.before-free",
            "clean.before-free",
            "clean.copied",
            "commit.counted",
            "copy.read",
            "checkpoint.published",
            "request.before-reply");

    private static final int MOST_POINTS = 64;

    @Override
    public void strike(Simulation simulation, int a, int b) {
        simulation.points().crashBehind(PLACES.get(b % PLACES.size()), a % MOST_POINTS);
    }
}
