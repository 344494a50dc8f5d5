package org.rowankv.sim.embedded;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.device.Rot;
import org.rowankv.sim.device.RottenBit;
import org.rowankv.sim.device.SimMemory;

/**
 * The one server of a simulation whose device damages data. Such a fault strikes only if each shard has a complete
 * replica elsewhere, or if there are no replicas: then losses are counted separately.
 */
final class Victim {
    private static final int NONE = -1;
    private static final int MOST_BITS = 3;

    private final EmbeddedSimulation simulation;
    private final RandomSource random;
    private final List<RottenBit> atNextStart = new ArrayList<>();
    private int number = NONE;
    private boolean rotten;
    private boolean lying;
    private boolean putsBack;
    /** The area is unchanged since it was saved: no process has run. */
    private boolean justKept;

    private boolean hasLost;

    Victim(EmbeddedSimulation simulation, RandomSource random) {
        this.simulation = simulation;
        this.random = random;
    }

    /** Whether a fault may strike; then it strikes the same server each time. */
    boolean isChosen(int drawn) {
        final int chosen = number == NONE ? drawn % simulation.plan().servers() : number;
        if (!isLone()
                && !simulation
                        .store()
                        .cluster()
                        .configuration()
                        .shardsLostWithout(Set.of(chosen))
                        .isEmpty()) {
            return false;
        }
        number = chosen;
        return true;
    }

    /** Whether no other server has a copy of what this one loses. */
    boolean isLone() {
        return simulation.plan().replicas() == 1;
    }

    /** Flips bits of its area: now, or before the next start. */
    void rot(int drawn, boolean now) {
        final Server server = simulation.store().cluster().servers().get(number);
        final Rot rot = new Rot(server, random);
        for (int i = 0; i <= drawn % MOST_BITS; i++) {
            final RottenBit bit = now ? rot.inUse() : rot.atAStart();
            if (bit != null) {
                rotten = true;
                if (now) {
                    flip(bit);
                } else {
                    atNextStart.add(bit);
                }
            }
        }
    }

    private void flip(RottenBit bit) {
        final SimMemory memory = simulation.memories().of(number);
        if (bit.isStillOf(memory.present().region())) {
            memory.flip(bit.address(), bit.mask());
            simulation.eventCounters().count("bits that flipped in " + bit.place());
            simulation.trace().tell("a bit flips at server " + number + " in " + bit);
            simulation.trace().mix(bit.address());
        }
    }

    /** Its device reports forces that it has not done. */
    void lie() {
        if (simulation.plan().power()) {
            lying = true;
            simulation.memories().of(number).device().lie();
            simulation.eventCounters().count("devices that lie");
        }
    }

    /** Restores an older state of its area at some later start. */
    void putBackLater() {
        putsBack = true;
    }

    /** The process has ended. @param isPowerCut whether forces that its device only reported are lost by now */
    void processEnded(boolean isPowerCut) {
        if (lying && isPowerCut) {
            lying = false;
            hasLost = true;
            if (!isLone() && random.nextInt(2) == 0) {
                // The operator has noticed, and replaces the device.
                hasLost = false;
                simulation.store().replaceAtNextStart(number);
                simulation.eventCounters().count("devices that lied and were replaced");
            }
        }
        justKept = putsBack && !simulation.memories().of(number).hasKept();
        if (justKept) {
            simulation.memories().of(number).keep();
        }
    }

    /** Between two processes. */
    void beforeStart(int starts) {
        atNextStart.forEach(this::flip);
        atNextStart.clear();
        if (putsBack
                && number != NONE
                && simulation.memories().of(number).hasKept()
                && random.nextInt(2) == 0
                && !justKept) {
            putsBack = false;
            if (starts > 1 && !isLone()) {
                simulation.memories().of(number).putBackKept();
                simulation.eventCounters().count("areas put back from earlier days");
                simulation.trace().tell("the area of server " + number + " is restored from an earlier state");
            }
        }
    }

    /** Whether its content is in doubt. */
    boolean isDoubtful() {
        return rotten || lying || putsBack;
    }

    /** Whether an acknowledged object may be gone without a violation. */
    boolean excuses() {
        return hasLost || isLone() && (rotten || lying);
    }

    /** A reply says that an object is unreadable. */
    void requireRotten(String what) {
        if (!rotten) {
            simulation.violation(what + ", and nothing was");
        }
        simulation.eventCounters().count("answers that an object cannot be read");
    }

    /** Itself, if bits of it have flipped. */
    Set<Integer> damaged() {
        return rotten ? Set.of(number) : Set.of();
    }

    boolean isRotten() {
        return rotten;
    }

    /** Whether its device has reported forces and lost them, undetected. */
    boolean hasLost() {
        return hasLost;
    }

    /** Itself, if its content is in doubt. */
    Set<Integer> doubtful() {
        final Set<Integer> servers = new TreeSet<>();
        if (isDoubtful()) {
            servers.add(number);
        }
        return servers;
    }

    int number() {
        return number;
    }

    /** Whether the store's report is about damage. */
    boolean explains(ErrorLog.Observation error) {
        return rotten
                && (error.type().equals(IllegalStateException.class.getName()) && isOfDamage(error.where())
                        || error.type().endsWith("DamagedLandingError")
                        || Rot.isRefusedCheckpoint(error, number));
    }

    private boolean isOfDamage(@Nullable String where) {
        return where != null
                && (where.startsWith("server " + number + ": segment")
                        || where.startsWith("server " + number + ": scan of segment")
                        || where.startsWith("reading segment")
                        || where.startsWith("clean"));
    }
}
