package org.rowankv.sim.cluster;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.CrashError;
import org.rowankv.sim.StepScheduler;
import org.rowankv.sim.Task;
import org.rowankv.sim.TaskQueue;

/**
 * The choice of the next task in a cluster: agents, event loops of network cards, attempts executed by servers, and
 * fibers, which wait in place.
 */
final class ClusterScheduler extends StepScheduler {
    /** Longer than any fault lasts. */
    private static final long STUCK_AFTER_NS = 60_000_000_000L;

    private static final int STUCK_AFTER_STEPS = 200_000;
    private static final int PARKED_STEPS = 4;
    private static final int LOOK_AT_ALL_EVERY = 4096;

    /** An event at a given time. */
    private record Planned(long atNs, long number, Runnable what) {}

    private final ClusterSimulation simulation;
    private final RandomSource order;
    private final List<Task> all = new ArrayList<>();
    private final TaskQueue queue = new TaskQueue();
    private final PriorityQueue<Planned> planned =
            new PriorityQueue<>(Comparator.comparingLong(Planned::atNs).thenComparingLong(Planned::number));
    private int attempts;
    /** A process has ended since dead tasks were last removed. */
    private boolean someDied;

    private long numbers;

    ClusterScheduler(ClusterSimulation simulation, RandomSource order) {
        super(simulation);
        this.simulation = simulation;
        this.order = order;
    }

    @Override
    public void add(Task one) {
        one.place(all.size());
        all.add(one);
        attempts += one instanceof Attempt ? 1 : 0;
        changed(one);
    }

    private void remove(Task one) {
        final int place = one.place();
        if (place < 0) {
            return;
        }
        one.place(-1);
        queue.remove(one);
        attempts -= one instanceof Attempt ? 1 : 0;
        final Task last = all.remove(all.size() - 1);
        if (last != one) {
            all.set(place, last);
            last.place(place);
        }
    }

    /** Not needed for the running task: it is checked when its step ends. */
    @Override
    public void changed(Task one) {
        if (one.isOnStack() || one.place() < 0) {
            return;
        }
        if (one.isGone()) {
            remove(one);
        } else {
            // A fiber of an ended process must be unwound wherever it is, which cannot be done here.
            someDied |= one.isDead();
            queue.place(one, one.readyAtNs(), simulation.timeline().nowNs());
        }
    }

    /** All tasks of a process: it stalls from now on, or continues. */
    void changed(SimProcess process) {
        for (Task one : List.copyOf(all)) {
            if (OfProcess.of(one) == process) {
                changed(one);
            }
        }
    }

    /** A process has ended: its tasks are removed before any other runs. */
    void died() {
        someDied = true;
    }

    /** Runs it at that time, or as soon as a later task runs. */
    void at(long ns, Runnable what) {
        planned.add(new Planned(ns, numbers++, what));
    }

    @Override
    protected void takeNext() {
        happen();
        final Task one = choose();
        simulation.timeline().advance(order.nextInt((int) (2 * simulation.plan().stepNs())));
        if (one != null) {
            run(one);
        }
        simulation.checkOn();
    }

    private void run(Task one) {
        queue.remove(one);
        try {
            runOnTop(one);
        } catch (CrashError e) {
            if (!one.isDead() && !simulation.isOver()) {
                throw e;
            }
        } finally {
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

    private @Nullable Task choose() {
        if (someDied) {
            endTheDead();
        }
        final long now = simulation.timeline().nowNs();
        queue.advance(now);
        if (taken() % LOOK_AT_ALL_EVERY == 0) {
            requireTrue(now);
        }
        if (isStuck(STUCK_AFTER_STEPS, STUCK_AFTER_NS)) {
            simulation.violation("nothing has come to an end for " + stepsSinceEnd() + " steps: " + simulation.state());
        }
        if (queue.readyCount() == 0) {
            final Planned soon = planned.peek();
            final long earliest = Math.min(queue.earliestNs(), soon == null ? Task.NEVER : soon.atNs);
            simulation.timeline().advanceTo(earliest == Task.NEVER ? now + 1_000_000 : earliest);
            return null;
        }
        final int drawn = order.nextInt(queue.readyCount());
        simulation.trace().mix(now * 31 + drawn);
        return queue.ready(drawn);
    }

    private void endTheDead() {
        someDied = false;
        for (Task one : List.copyOf(all)) {
            if (one.isDead() && !one.isOnStack()) {
                if (one instanceof Fiber fiber) {
                    end(fiber);
                }
                remove(one);
            }
        }
    }

    /** Checks that every change was reported: otherwise a task would never run, or too early, undetected. */
    private void requireTrue(long now) {
        for (Task one : all) {
            final long due = one.readyAtNs();
            final boolean isTrue = one.isOnStack()
                    ? one.index() < 0
                    : one.isReady() ? due <= now : due == Task.NEVER ? one.index() < 0 : due == one.dueNs();
            if (!isTrue) {
                throw new AssertionError(one + " is due at " + due + ", now is " + now + ", and it stands for "
                        + (one.isReady() ? "ready" : one.index() < 0 ? "never" : String.valueOf(one.dueNs())));
            }
        }
    }

    /** Its process has ended: an error unwinds it wherever it was. */
    private void end(Fiber fiber) {
        while (!fiber.isOver()) {
            run(fiber);
        }
    }

    /** Unwinds all fibers; their further effects are discarded. */
    void endAll() {
        for (Task one : List.copyOf(all)) {
            if (one instanceof Fiber fiber) {
                end(fiber);
            }
        }
        all.clear();
        queue.clear();
    }

    /** Whether a server executes a client's request. */
    boolean hasAttempts() {
        return attempts > 0;
    }

    /** Whether a task has stopped in the middle of a step of a client's request to that process. */
    boolean isInAttemptAt(SimProcess process) {
        return stack().stream().anyMatch(one -> one instanceof Attempt && OfProcess.of(one) == process);
    }

    String describe() {
        final StringBuilder text = new StringBuilder();
        for (Task one : all) {
            if (one instanceof Attempt) {
                text.append(one).append("; ");
            } else if (one instanceof Fiber fiber) {
                text.append(fiber.where()).append("; ");
            }
        }
        return text.toString();
    }

    @Override
    public void park(long ns) {
        final Fiber fiber = Fiber.current();
        if (fiber != null) {
            fiber.rest(simulation.timeline().nowNs() + ns);
            return;
        }
        final Task here = current();
        simulation.timeline().advance(ns);
        for (int i = 0; i < PARKED_STEPS; i++) {
            step();
        }
        continues(here);
    }

    @Override
    protected void continues(@Nullable Task one) {
        if (one != null && one.isDead()) {
            throw new CrashError();
        }
    }
}
