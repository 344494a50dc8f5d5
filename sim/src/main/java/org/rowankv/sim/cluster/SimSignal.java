package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.agent.Signal;

/** A signal between the fibers and agents of a simulation. */
final class SimSignal implements Signal {
    private final ClusterSimulation simulation;
    private boolean given;
    private @Nullable Fiber waiting;

    SimSignal(ClusterSimulation simulation) {
        this.simulation = simulation;
    }

    @Override
    public void give() {
        given = true;
        final Fiber waiter = waiting;
        if (waiter != null) {
            waiter.wakeUp();
        }
    }

    @Override
    public boolean await(long ns) throws InterruptedException {
        final Fiber own = Fiber.required();
        if (!given && !own.takeInterrupt()) {
            waiting = own;
            own.rest(simulation.timeline().nowNs() + ns);
            waiting = null;
        }
        if (own.takeInterrupt()) {
            throw new InterruptedException();
        }
        final boolean was = given;
        given = false;
        return was;
    }
}
