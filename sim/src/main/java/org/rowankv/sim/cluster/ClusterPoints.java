package org.rowankv.sim.cluster;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.CrashError;
import org.rowankv.sim.SeedPoints;
import org.rowankv.sim.Task;

/** Actions at the named points that the servers' code reaches: other tasks run there, or the process ends. */
final class ClusterPoints extends SeedPoints {
    /** A server has taken over all that others had for it, and forced it. */
    private static final String COMPLETE = "start.term";

    private static final String DAMAGED = "copy.damaged";

    private final ClusterSimulation simulation;
    private final RandomSource lengths;

    ClusterPoints(ClusterSimulation simulation, RandomSource random) {
        super(simulation, random.fork("favours"), random.fork("chance"));
        this.simulation = simulation;
        this.lengths = random.fork("lengths");
    }

    void onPoint(String name) {
        final Task here = simulation.scheduler().current();
        if (here != null && here.isDead()) {
            throw new CrashError();
        }
        final Point point = point(name);
        point.reached();
        if (here == null) {
            return;
        }
        final SimProcess process = OfProcess.of(here);
        if (process != null && name.equals(COMPLETE)) {
            process.completed();
        }
        if (process != null && name.equals(OPENED)) {
            simulation.roles().opened(process);
        }
        if (process != null && name.equals(DAMAGED)) {
            simulation.deviceFaults().leftOut(process.host());
        }
        if (process != null && point.isOfStart && process.endsHere(name) && isHeldBefore(point)) {
            simulation.eventCounters().count("servers killed at a point of their start");
            simulation.eventCounters().count("killed at " + name);
            simulation.trace().tell("at " + name);
            simulation.killAndRestart(process.host(), simulation.plan().power() && lengths.nextInt(2) == 0);
            throw new CrashError();
        }
        if (process != null && name.equals(COMMITTED)) {
            onCommitted(process);
        }
        if (point.isInMonitor || simulation.isCalm()) {
            return;
        }
        final int steps = draw(point);
        if (steps > 0) {
            stop(name, steps, Fiber.current(), point);
        }
    }

    private void onCommitted(SimProcess process) {
        final SimProcess.Door door = process.door();
        if (door == null) {
            return; // not yet, or no longer
        }
        final List<@Nullable Server> servers = new ArrayList<>();
        for (SimHost host : simulation.hosts()) {
            final SimProcess other = host.process();
            final SimProcess.Door opened = other == null ? null : other.door();
            final boolean isWhole = !simulation.deviceFaults().damaged().contains(host.number());
            servers.add(
                    opened != null
                                    && isWhole
                                    && opened.configuration().term()
                                            == door.configuration().term()
                            ? opened.server()
                            : null);
        }
        onCommitted(door.server(), door.configuration(), servers);
    }

    /** Other tasks run for a while before it ends; false if it is not to end any more. */
    private boolean isHeldBefore(Point point) {
        final Fiber fiber = Fiber.current();
        if (fiber != null && !point.isInMonitor) {
            fiber.rest(simulation.timeline().nowNs() + 1L + lengths.nextInt(1 << 14 + lengths.nextInt(15)));
        }
        return !simulation.isCalm();
    }

    private int draw(Point point) {
        return switch (point.draw()) {
            case YIELD -> 1 + lengths.nextInt(20);
            case STALL -> lengths.nextInt(1 << 6 + lengths.nextInt(8));
            case NOTHING, DEATH -> 0;
        };
    }

    private void stop(String name, int steps, @Nullable Fiber fiber, Point point) {
        if (fiber != null) {
            if (point.isOfStart) {
                simulation.eventCounters().count("stop at " + name);
                fiber.rest(simulation.timeline().nowNs()
                        + steps * simulation.plan().stepNs());
            }
        } else if (simulation.scheduler().mayStop()) {
            simulation.eventCounters().count("stop at " + name);
            simulation.scheduler().nest(steps);
        }
    }
}
