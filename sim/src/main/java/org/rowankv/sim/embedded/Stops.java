package org.rowankv.sim.embedded;

import org.rowankv.protocol.Request;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.durability.ForceFailedException;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.device.DeviceFailedException;
import org.rowankv.sim.workload.CacheLife;

/**
 * State of a store that has stopped itself because of its device: it refuses everything with the cause, until it is
 * closed and opened again.
 */
final class Stops {
    private static final int MOST_STEPS = 3_000;

    private final EmbeddedSimulation simulation;
    private final RandomSource random;
    private boolean met;
    private boolean lingers;

    Stops(EmbeddedSimulation simulation, RandomSource random) {
        this.simulation = simulation;
        this.random = random;
    }

    /** Whether the store has stopped, and was not opened since. */
    boolean isStopped() {
        return met || simulation.memories().haveFailed();
    }

    /** Whether a device is the cause of the stop. */
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

    /** A request is refused, or ends its wait: the store must have stopped, and name the cause. */
    void onRefusal(RuntimeException refusal) {
        if (!explains(refusal)) {
            throw refusal;
        }
        met = true;
        simulation.eventCounters().count("requests refused by a store that had stopped itself");
    }

    /** Throws the refusal of a store that has stopped itself: a wait for its agents would never end. */
    void requireServing() {
        if (isStopped() || simulation.store().cluster().servers().stream().anyMatch(Server::isStopped)) {
            final byte[] key = CacheLife.keyBytes(0);
            final Request read =
                    new Request().get(simulation.workload().caches().first().id(), key, 0, key.length);
            simulation.place(read);
            simulation.session().call(read);
        }
    }

    /** Other tasks run for a while, and are refused. */
    void linger() {
        lingers = true;
        try {
            for (int steps = random.nextInt(MOST_STEPS); steps > 0; steps--) {
                simulation.scheduler().step();
            }
        } finally {
            lingers = false;
            simulation.scheduler().onProgress(); // the close that follows has its own time
        }
    }

    /** Whether a store that has stopped itself is left running before it is closed. */
    boolean lingers() {
        return lingers;
    }

    /** Another store is opened, however the former one ended. */
    void over() {
        met = false;
    }

    /** Whether the machine ends with the stopped store. */
    boolean endsMachine() {
        return simulation.plan().power() && random.nextInt(2) == 0;
    }
}
