package org.rowankv.sim;

import org.rowankv.protocol.Request;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.durability.ForceFailedException;
import org.rowankv.sim.device.DeviceFailedException;
import org.rowankv.sim.workload.CacheLife;

/** A store that stops itself over its device: it refuses everything with the cause, until it is closed and opened again. */
final class Stops {
    private static final int MOST_STEPS = 3_000;

    private final Simulation simulation;
    private final RandomSource random;
    private boolean met;

    Stops(Simulation simulation, RandomSource random) {
        this.simulation = simulation;
        this.random = random;
    }

    /** Whether the store has stopped, and was not opened since. */
    boolean isStopped() {
        return met || simulation.memories().haveFailed();
    }

    /** Whether a device is what the store has stopped over. */
    boolean explains(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ForceFailedException && DeviceFailedException.isCauseOf(cause)
                    || cause instanceof AgentStoppedException
                            && simulation.victim().isRotten()) {
                return true;
            }
        }
        return false;
    }

    /** A request is refused, or waits no longer: the store must have stopped, and say why. */
    void onRefusal(RuntimeException refusal) {
        if (!explains(refusal)) {
            throw refusal;
        }
        met = true;
        simulation.happenings().count("requests refused by a store that had stopped itself");
    }

    /** Throws the refusal of a store that has stopped itself: what waits for its agents would wait without end. */
    void requireServing() {
        if (isStopped()) {
            final byte[] key = CacheLife.keyBytes(0);
            final Request read =
                    new Request().get(simulation.workload().caches().first().id(), key, 0, key.length);
            simulation.store().place(read);
            simulation.session().call(read);
        }
    }

    /** Others go on for a while, and are refused. */
    void linger() {
        for (int steps = random.nextInt(MOST_STEPS); steps > 0; steps--) {
            simulation.turns().step();
        }
    }

    /** Another store is opened, however the former one ended. */
    void over() {
        met = false;
    }

    /** Whether the machine ends with the store that has stopped. */
    boolean endsMachine() {
        return simulation.plan().power() && random.nextInt(2) == 0;
    }
}
