package org.rowankv.sim;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;

/** What happens at the named points that production code reaches: others go on there, callers die, the process ends. */
final class Points {
    private static final int DEEPEST = 4;

    private final Simulation simulation;
    private final RandomSource order;
    private final Chance chance;
    private int crashIn = -1;
    private boolean cutOffNext;

    Points(Simulation simulation, RandomSource order, Chance chance) {
        this.simulation = simulation;
        this.order = order;
        this.chance = chance;
    }

    /** The process ends so many points from now. */
    void crashIn(int points) {
        crashIn = points;
    }

    /** The next caller that reaches a place of an append is cut off there. */
    void cutOffNext() {
        cutOffNext = true;
    }

    void onPoint(String name) {
        if (simulation.store().isCrashed()) {
            throw new CrashError();
        }
        final SimFabric fabric = simulation.store().fabric();
        if (fabric != null && name.equals("local.after-publish")) {
            fabric.onPublished();
        }
        final Task here = simulation.turns().current();
        if (simulation.isCalm() || here == null) {
            return;
        }
        simulation.happenings().count("point " + name);
        if (crashIn >= 0 && crashIn-- == 0) {
            crashIn = -1;
            simulation.store().crash("at " + name);
        }
        if (simulation.turns().depth() >= DEEPEST || name.startsWith("local.fence")) {
            return; // behind a fence's monitor nobody else can go on
        }
        if (cutOffNext && fabric != null && fabric.innermost() != null && here.isCaller()) {
            cutOffNext = false;
            cutOff(name, fabric, fabric.innermost());
            return;
        }
        switch (chance.at(name)) {
            case NOTHING -> {}
            case YIELD -> simulation.turns().nest(1 + order.nextInt(20));
            case STALL -> stall(name, here);
            case DEATH -> {
                if (here.isCaller()) {
                    simulation.trace().tell(here + " dies at " + name);
                    simulation.happenings().count("death at " + name);
                    throw new CallerDeath(name);
                }
            }
        }
    }

    private void stall(String name, Task here) {
        simulation.trace().tell(here + " stalls at " + name);
        simulation.happenings().count("stall at " + name);
        simulation.turns().nest(200 + order.nextInt(2500));
        simulation.trace().tell(here + " goes on at " + name);
    }

    private void cutOff(String name, SimFabric fabric, int @Nullable [] fromTo) {
        if (fromTo != null) {
            simulation.trace().tell("server " + fromTo[1] + " fences server " + fromTo[0] + ", which is at " + name);
            simulation.happenings().count("fences");
            simulation.happenings().count("stall at " + name);
            fabric.fence(simulation.store().cluster().servers().get(fromTo[1]), fromTo[0]);
            simulation.turns().nest(order.nextInt(2000));
        }
    }
}
