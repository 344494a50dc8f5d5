package org.rowankv.sim.cluster;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.Chance;
import org.rowankv.sim.CommitChecker;
import org.rowankv.sim.CrashError;
import org.rowankv.sim.EventCounters;

/** Actions at the named points that the servers' code reaches: other tasks run there, or the process ends. */
final class ClusterPoints {
    private static final String START = "start.";
    private static final String STORE = "configuration.";
    /** A server has taken over all that others had for it, and forced it. */
    private static final String COMPLETE = "start.term";

    private static final String OPENED = "opening.opened";
    private static final String DAMAGED = "copy.damaged";

    private final class Point {
        /** Inside a monitor no other task can run. */
        private final boolean isInMonitor;

        private final boolean isOfStart;
        private final int favour;
        private final EventCounters.Counter reached;

        Point(String name) {
            this.isInMonitor = name.startsWith("tcp.") || name.startsWith("leased.") || name.equals("start.taken-over");
            this.isOfStart = name.startsWith(START) || name.startsWith(STORE);
            this.favour = chance.favour(name);
            this.reached = simulation.eventCounters().counter("point " + name);
        }
    }

    private final ClusterSimulation simulation;
    private final CommitChecker commits;
    private final RandomSource lengths;
    private final Chance chance;
    private final Map<String, Point> points = new HashMap<>();

    ClusterPoints(ClusterSimulation simulation, RandomSource random) {
        this.simulation = simulation;
        this.commits = new CommitChecker(simulation::violation);
        this.lengths = random.fork("lengths");
        this.chance = new Chance(
                simulation.plan().yieldPerMyriad(),
                simulation.plan().stallPerMyriad(),
                0,
                random.fork("favours"),
                random.fork("chance"));
    }

    void onPoint(String name) {
        final SimTask here = simulation.scheduler().current();
        if (here != null && here.isDead()) {
            throw new CrashError();
        }
        Point point = points.get(name);
        if (point == null) {
            point = new Point(name);
            points.put(name, point);
        }
        point.reached.add(1);
        if (here == null) {
            return;
        }
        final SimProcess process = here.process();
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
        if (process != null && name.equals(CommitChecker.POINT)) {
            onCommitted(process);
        }
        if (point.isInMonitor || simulation.isCalm()) {
            return;
        }
        final int steps = draw(point.favour);
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
        commits.onCommitted(door.server(), door.configuration(), servers);
    }

    /** Other tasks run for a while before it ends; false if it is not to end any more. */
    private boolean isHeldBefore(Point point) {
        final Fiber fiber = Fiber.current();
        if (fiber != null && !point.isInMonitor) {
            fiber.rest(simulation.timeline().nowNs() + 1L + lengths.nextInt(1 << 14 + lengths.nextInt(15)));
        }
        return !simulation.isCalm();
    }

    private int draw(int favour) {
        return switch (chance.draw(favour)) {
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
