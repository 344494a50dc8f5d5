package org.rowankv.sim.cluster;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
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

    /** What happens by itself, at its time. */
    private record Planned(long atNs, long number, Runnable what) {}

    private final ClusterSimulation simulation;
    private final RandomSource order;
    private final List<Turned> all = new ArrayList<>();
    private final Deque<Turned> stack = new ArrayDeque<>();
    private final PriorityQueue<Planned> planned =
            new PriorityQueue<>(Comparator.comparingLong(Planned::atNs).thenComparingLong(Planned::number));
    /** Of those that are stopped, the lowest first: the step by which each is to go on. */
    private final long[] until = new long[DEEPEST];

    private @Nullable Turned[] ready = new @Nullable Turned[16];
    private int readyCount;
    private int depth;
    private long taken;
    private long numbers;
    private long stepsSinceEnd;
    private long endedAtNs;

    ClusterTurns(ClusterSimulation simulation, RandomSource order) {
        this.simulation = simulation;
        this.order = order;
    }

    void add(Turned one) {
        all.add(one);
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
        readyCount = 0;
        final long now = simulation.timeline().nowNs();
        final Planned soon = planned.peek();
        long earliest = soon == null ? Turned.NEVER : soon.atNs;
        int kept = 0;
        for (int i = 0; i < all.size(); i++) {
            final Turned one = all.get(i);
            if (one.isOnStack()) {
                all.set(kept++, one);
                continue;
            }
            if (one.isDead() && one instanceof Fiber fiber) {
                end(fiber);
            }
            if (one.isGone()) {
                continue;
            }
            all.set(kept++, one);
            final long at = one.readyAtNs();
            if (at > now) {
                earliest = Math.min(earliest, at);
                continue;
            }
            if (readyCount == ready.length) {
                ready = Arrays.copyOf(ready, 2 * readyCount);
            }
            ready[readyCount++] = one;
        }
        all.subList(kept, all.size()).clear();
        if (++stepsSinceEnd > STUCK_AFTER_STEPS && now - endedAtNs > STUCK_AFTER_NS) {
            simulation.violation("nothing has come to an end for " + stepsSinceEnd + " steps: " + simulation.state());
        }
        if (readyCount == 0) {
            simulation.timeline().advanceTo(earliest == Turned.NEVER ? now + 1_000_000 : earliest);
            return null;
        }
        final int drawn = order.nextInt(readyCount);
        simulation.trace().mix(now * 31 + drawn);
        return ready[drawn];
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
    }

    /** Whether a server is at work on what a client asked. */
    boolean hasAttempts() {
        return all.stream().anyMatch(one -> one instanceof Attempt && !one.isGone());
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
