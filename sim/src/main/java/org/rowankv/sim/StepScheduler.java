package org.rowankv.sim;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks in steps, one at a time. A task that stops at a point has others run on top of its stack; tasks on the stack
 * do not run a second time. Which task is next is the choice of the form.
 */
public abstract class StepScheduler {
    private static final int DEEPEST = 4;

    private final SeedRun run;
    private final Deque<Task> stack = new ArrayDeque<>();
    /** Of the stopped tasks, the lowest first: the step at which each continues. */
    private final long[] until = new long[DEEPEST];

    private int depth;
    private long taken;
    private long stepsSinceEnd;
    private long endedAtNs;

    protected StepScheduler(SeedRun run) {
        this.run = run;
    }

    /** Runs one step of a ready task, or lets time pass without any. */
    public final void step() {
        run.checkOn();
        taken++;
        stepsSinceEnd++;
        takeNext();
    }

    public abstract void add(Task task);

    /** A task waits in the middle of a call: all others run. */
    public abstract void park(long ns);

    /** The ready time of a task may have changed, outside of its own step. */
    public void changed(Task one) {
        // Embedded stores look at all tasks before each step.
    }

    /** Chooses a task, and runs it. */
    protected abstract void takeNext();

    /** Runs one step of a task, on top of those that have stopped. */
    protected final void runOnTop(Task task) {
        stack.addLast(task);
        task.onStack(true);
        try {
            task.step();
        } finally {
            task.onStack(false);
            stack.removeLast();
        }
    }

    /** All steps, also those without a task. */
    public final long taken() {
        return taken;
    }

    /** Something has completed: the run is not stuck. */
    public final void onProgress() {
        stepsSinceEnd = 0;
        endedAtNs = run.timeline().nowNs();
    }

    /** Steps since something last completed. */
    public final long stepsSinceEnd() {
        return stepsSinceEnd;
    }

    /** Whether nothing has completed for more than so many steps, and so long. */
    protected final boolean isStuck(int steps, long ns) {
        return stepsSinceEnd > steps && run.timeline().nowNs() - endedAtNs > ns;
    }

    /**
     * Other tasks run for about this many steps, on top of the stopped one. Steps on top of those others count too, and
     * a due task lets no new one stop above it: so it continues, however often others stop.
     */
    public final void nest(int steps) {
        nest(steps, () -> false);
    }

    /** As above, or until an event has happened. */
    public final void nest(int steps, BooleanSupplier happened) {
        final Task here = stack.peekLast();
        until[depth++] = taken + steps;
        try {
            while (taken < until[depth - 1] && !happened.getAsBoolean()) {
                step();
            }
        } finally {
            depth--;
        }
        continues(here);
    }

    /** A stopped task continues; it may have ended meanwhile. */
    protected void continues(@Nullable Task stopped) {
        // Embedded stores end as a whole.
    }

    /** Whether one more task may stop here. */
    public final boolean mayStop() {
        for (int i = 0; i < depth; i++) {
            if (until[i] <= taken) {
                return false;
            }
        }
        return depth < DEEPEST;
    }

    /** The tasks that have stopped, and the running one last. */
    protected final Deque<Task> stack() {
        return stack;
    }

    /** The running task, or null. */
    public final @Nullable Task current() {
        return stack.peekLast();
    }
}
