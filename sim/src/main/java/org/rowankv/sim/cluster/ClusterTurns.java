package org.rowankv.sim.cluster;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.CrashError;

/**
 * Who goes on next: agents, the event loops of network cards, attempts that servers are at work on, and fibers. Fibers wait
 * where they are; whoever else stops at a point has others run on top of its stack, and is not turned a second time.
 */
final class ClusterTurns {
    private static final int DEEPEST = 4;
    /** Longer than anything that goes wrong lasts. */
    private static final long STUCK_AFTER_NS = 60_000_000_000L;

    private static final int STUCK_AFTER_STEPS = 200_000;
    private static final int PARKED_STEPS = 4;
    private static final int LOOK_AT_ALL_EVERY = 4096;

    /** What happens by itself, at its time. */
    private record Planned(long atNs, long number, Runnable what) {}

    private final ClusterSimulation simulation;
    private final RandomSource order;
    private final List<Turned> all = new ArrayList<>();
    private final TurnQueue queue = new TurnQueue();
    private final Deque<Turned> stack = new ArrayDeque<>();
    private final PriorityQueue<Planned> planned =
            new PriorityQueue<>(Comparator.comparingLong(Planned::atNs).thenComparingLong(Planned::number));
    /** Of those that are stopped, the lowest first: the step by which each is to go on. */
    private final long[] until = new long[DEEPEST];

    private int depth;
    private int attempts;
    /** A process has ended since its own were looked for. */
    private boolean someDied;

    private long taken;
    private long numbers;
    private long stepsSinceEnd;
    private long endedAtNs;

    ClusterTurns(ClusterSimulation simulation, RandomSource order) {
        this.simulation = simulation;
        this.order = order;
    }

    void add(Turned one) {
        one.place(all.size());
        all.add(one);
        attempts += one instanceof Attempt ? 1 : 0;
        changed(one);
    }

    private void remove(Turned one) {
        final int place = one.place();
        if (place < 0) {
            return;
        }
        one.place(-1);
        queue.remove(one);
        attempts -= one instanceof Attempt ? 1 : 0;
        final Turned last = all.remove(all.size() - 1);
        if (last != one) {
            all.set(place, last);
            last.place(place);
        }
    }

    /** When it is ready may be another time now. Who has the turn need not say so: it is looked at when the turn ends. */
    void changed(Turned one) {
        if (one.isOnStack() || one.place() < 0) {
            return;
        }
        if (one.isGone()) {
            remove(one);
        } else {
            // A fiber whose process is over is taken out of wherever it is, which cannot be done here.
            someDied |= one.isDead();
            queue.place(one, one.readyAtNs(), simulation.timeline().nowNs());
        }
    }

    /** Of all that belongs to a process: it stands still from now on, or goes on. */
    void changed(SimProcess process) {
        for (Turned one : List.copyOf(all)) {
            if (one.process() == process) {
                changed(one);
            }
        }
    }

    /** A process is over: what belongs to it leaves before anybody goes on. */
    void died() {
        someDied = true;
    }

    /** At that time, or as soon as somebody is turned after it. */
    void at(long ns, Runnable what) {
        planned.add(new Planned(ns, numbers++, what));
    }

    void onProgress() {
        stepsSinceEnd = 0;
        endedAtNs = simulation.timeline().nowNs();
    }

    long taken() {
        return taken;
    }

    /** One step of one of those that can go on, or some time without any. */
    void step() {
        simulation.checkOn();
        taken++;
        happen();
        final Turned one = choose();
        simulation.timeline().advance(order.nextInt((int) (2 * simulation.plan().stepNs())));
        if (one != null) {
            turn(one);
        }
        simulation.checkOn();
    }

    private void turn(Turned one) {
        stack.addLast(one);
        queue.remove(one);
        one.onStack(true);
        try {
            one.step();
        } catch (CrashError e) {
            if (!one.isDead() && !simulation.isOver()) {
                throw e;
            }
        } finally {
            one.onStack(false);
            stack.removeLast();
            changed(one);
        }
    }

    private void happen() {
        Planned next = planned.peek();
        while (next != null && next.atNs <= simulation.timeline().nowNs()) {
            planned.remove();
            next.what.run();
            next = planned.peek();
        }
    }

    private @Nullable Turned choose() {
        if (someDied) {
            endTheDead();
        }
        final long now = simulation.timeline().nowNs();
        queue.advance(now);
        if (taken % LOOK_AT_ALL_EVERY == 0) {
            requireTrue(now);
        }
        if (++stepsSinceEnd > STUCK_AFTER_STEPS && now - endedAtNs > STUCK_AFTER_NS) {
            simulation.violation("nothing has come to an end for " + stepsSinceEnd + " steps: " + simulation.state());
        }
        if (queue.readyCount() == 0) {
            final Planned soon = planned.peek();
            final long earliest = Math.min(queue.earliestNs(), soon == null ? Turned.NEVER : soon.atNs);
            simulation.timeline().advanceTo(earliest == Turned.NEVER ? now + 1_000_000 : earliest);
            return null;
        }
        final int drawn = order.nextInt(queue.readyCount());
        simulation.trace().mix(now * 31 + drawn);
        return queue.ready(drawn);
    }

    private void endTheDead() {
        someDied = false;
        for (Turned one : List.copyOf(all)) {
            if (one.isDead() && !one.isOnStack()) {
                if (one instanceof Fiber fiber) {
                    end(fiber);
                }
                remove(one);
            }
        }
    }

    /** Whoever changed has said so: otherwise it would never go on, or too early, and nobody would know. */
    private void requireTrue(long now) {
        for (Turned one : all) {
            final long due = one.readyAtNs();
            final boolean isTrue = one.isOnStack()
                    ? one.index() < 0
                    : one.isReady() ? due <= now : due == Turned.NEVER ? one.index() < 0 : due == one.dueNs();
            if (!isTrue) {
                throw new AssertionError(one + " is due at " + due + ", now is " + now + ", and it stands for "
                        + (one.isReady() ? "ready" : one.index() < 0 ? "never" : String.valueOf(one.dueNs())));
            }
        }
    }

    /** Its process is no more: it leaves by an error wherever it was. */
    private void end(Fiber fiber) {
        while (!fiber.isOver()) {
            turn(fiber);
        }
    }

    /** All fibers leave; what they would have done nobody sees any more. */
    void endAll() {
        for (Turned one : List.copyOf(all)) {
            if (one instanceof Fiber fiber) {
                end(fiber);
            }
        }
        all.clear();
        queue.clear();
    }

    /** Whether a server is at work on what a client asked. */
    boolean hasAttempts() {
        return attempts > 0;
    }

    /** Whether somebody has stopped in the middle of a step of what a client asked that process. */
    boolean isInAttemptAt(SimProcess process) {
        return stack.stream().anyMatch(one -> one instanceof Attempt && one.process() == process);
    }

    /** For people. */
    String describe() {
        final StringBuilder text = new StringBuilder();
        for (Turned one : all) {
            if (one instanceof Attempt) {
                text.append(one).append("; ");
            } else if (one instanceof Fiber fiber) {
                text.append(fiber.where()).append("; ");
            }
        }
        return text.toString();
    }

    /** Somebody waits in the middle of a call: everybody else goes on. */
    void park(long ns) {
        final Fiber fiber = Fiber.current();
        if (fiber != null) {
            fiber.rest(simulation.timeline().nowNs() + ns);
            return;
        }
        final Turned here = stack.peekLast();
        simulation.timeline().advance(ns);
        for (int i = 0; i < PARKED_STEPS; i++) {
            step();
        }
        requireAlive(here);
    }

    private static void requireAlive(@Nullable Turned one) {
        if (one != null && one.isDead()) {
            throw new CrashError();
        }
    }

    /**
     * Others go on for about so many steps, on top of who has stopped. Steps that are taken on top of those others count
     * too, and who is due lets nobody new stop above: so it goes on, however often others stop.
     */
    void nest(int steps) {
        final Turned here = stack.peekLast();
        until[depth++] = taken + steps;
        try {
            while (taken < until[depth - 1]) {
                step();
            }
        } finally {
            depth--;
        }
        requireAlive(here);
    }

    /** Whether one more may stop here. */
    boolean mayStop() {
        for (int i = 0; i < depth; i++) {
            if (until[i] <= taken) {
                return false;
            }
        }
        return depth < DEEPEST;
    }

    /** Who has the turn now, or null. */
    @Nullable
    Turned current() {
        return stack.peekLast();
    }
}
