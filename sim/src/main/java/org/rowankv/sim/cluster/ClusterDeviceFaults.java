package org.rowankv.sim.cluster;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.UnusableAreaException;
import org.rowankv.sim.device.DeviceFailedException;
import org.rowankv.sim.device.Rot;
import org.rowankv.sim.device.RottenBit;
import org.rowankv.sim.device.SimMemory;

/**
 * Device failures in a cluster. A server whose device fails stops itself, and is restarted, as by a
 * supervisor. A server with a damaged area is refused until an operator has accepted that; a cluster's server is never
 * replaced by an empty one. So the run ends there. In each simulation one server has bit flips.
 */
final class ClusterDeviceFaults {
    private static final int NONE = -1;
    private static final int MOST_FORCES = 40;
    private static final int MOST_BITS = 3;
    private static final long LOOK_EVERY_NS = 20_000_000;

    private final ClusterSimulation simulation;
    private final RandomSource random;
    private int rotten = NONE;
    private boolean isLeftOut;

    ClusterDeviceFaults(ClusterSimulation simulation, RandomSource random) {
        this.simulation = simulation;
        this.random = random;
    }

    /** Makes a force of its device fail: while it serves, or any write, as during a start. */
    void failForce(SimHost host, int drawn) {
        final SimMemory memory = host.memory();
        if (memory != null && memory.hasDevice()) {
            memory.device().failIn(drawn % MOST_FORCES, drawn % 4 == 0, random.fork("force " + drawn));
            watchForce(host);
        }
    }

    private void watchForce(SimHost host) {
        simulation.scheduler().at(simulation.timeline().nowNs() + LOOK_EVERY_NS, () -> {
            final SimProcess process = host.process();
            final RuntimeException failure = process == null ? null : process.failure();
            if (failure != null && DeviceFailedException.isCauseOf(failure)) {
                simulation.eventCounters().count("servers that stopped themselves over a device");
                simulation.trace().tell("server " + process + " has stopped itself");
                simulation.killAndRestart(host, random.nextInt(2) == 0);
            } else if (!simulation.isOver()) {
                watchForce(host);
            }
        });
    }

    /** Cancels the failures that have not happened yet. */
    void heal() {
        for (SimHost host : simulation.hosts()) {
            final SimMemory memory = host.memory();
            if (memory != null && memory.hasDevice()) {
                memory.device().spare();
            }
        }
    }

    void rot(SimHost drawn, int bits) {
        final SimHost host = rotten == NONE ? drawn : simulation.hosts().get(rotten);
        final SimProcess process = host.process();
        final SimProcess.Door door = process == null ? null : process.door();
        final SimMemory memory = host.memory();
        if (door == null || memory == null) {
            return;
        }
        final Rot rot = new Rot(door.server(), random);
        for (int i = 0; i <= bits % MOST_BITS; i++) {
            final RottenBit bit = rot.inUse();
            if (bit != null && bit.isStillOf(memory.present().region())) {
                if (rotten == NONE) {
                    rotten = host.number();
                    watchArea(host);
                }
                memory.flip(bit.address(), bit.mask());
                simulation.eventCounters().count("bits that flipped in " + bit.place());
                simulation.trace().tell("a bit flips at server " + host + " in " + bit);
                simulation.trace().mix(bit.address());
            }
        }
    }

    /**
     * A server that cannot continue on its area reports that, and the cluster waits for it: the run has nothing more to
     * show.
     */
    private void watchArea(SimHost host) {
        simulation.scheduler().at(simulation.timeline().nowNs() + LOOK_EVERY_NS, () -> {
            final SimProcess process = host.process();
            if (process != null && process.failure() != null) {
                process.checkErrors();
            }
            if (!simulation.isOver()) {
                watchArea(host);
            }
        });
    }

    /** A server that cannot continue on its damaged area ends the run. @param failure of the server, or null */
    void requireRuns(SimHost host, @Nullable RuntimeException failure) {
        if (failure != null && host.number() == rotten && isOfDamage(failure)) {
            simulation.eventCounters().count("servers refused over damage");
            simulation.endOverDamage("server " + host + " cannot run: " + failure.getMessage());
        }
    }

    private static boolean isOfDamage(RuntimeException failure) {
        final Throwable cause = failure.getCause();
        return failure instanceof UnusableAreaException
                || failure instanceof AgentStoppedException
                        && cause != null
                        && isOfDamage(cause.getClass().getName());
    }

    private static boolean isOfDamage(String type) {
        return type.endsWith("DamagedLandingError");
    }

    /** Servers that may hold damage. */
    Set<Integer> damaged() {
        return rotten == NONE ? Set.of() : Set.of(rotten);
    }

    /** A reply says that an object is unreadable. */
    void requireRotten(String what) {
        if (rotten == NONE) {
            simulation.violation(what + ", and nothing was");
        }
        simulation.eventCounters().count("answers that an object cannot be read");
    }

    /** A damaged entry of that primary is not copied to a replica that is joining: the copies before may be gone. */
    void leftOut(SimHost host) {
        if (host.number() != rotten) {
            simulation.violation(
                    "server " + host + " leaves an entry out of a copy, and none of its entries is damaged");
        }
        isLeftOut = true;
        simulation.eventCounters().count("damaged entries left out of copies");
    }

    /**
     * An acknowledged object is missing: only damage without another replica may lose it, and what is returned instead is
     * never wrong.
     */
    void requireNoLoss(boolean isWrong, String what) {
        if (!isWrong && rotten != NONE && (simulation.plan().replicas() == 1 || isLeftOut)) {
            simulation.endOverDamage(what);
        }
        simulation.violation(what);
    }

    /** Whether the server's report is about damage. */
    boolean explains(SimHost host, ErrorLog.Observation error) {
        final String where = error.where();
        return host.number() == rotten
                && (isOfDamage(error.type())
                        || Rot.isRefusedCheckpoint(error, rotten)
                        || error.type().equals(IllegalStateException.class.getName())
                                && (where.startsWith("server " + rotten + ": segment")
                                        || where.startsWith("server " + rotten + ": scan of segment")
                                        || where.startsWith("reading segment")));
    }
}
