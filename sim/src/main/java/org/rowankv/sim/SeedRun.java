package org.rowankv.sim;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.sim.workload.Workload;

/**
 * The run of one seed, of either form: its time, its trace, what it has met, and its first violation. Owned by one {@link
 * SimThread}.
 */
public abstract class SeedRun {
    private final long seed;
    private final int operations;
    private final Timeline timeline = new Timeline();
    private final Trace trace;
    private final EventCounters eventCounters = new EventCounters();

    private boolean accepting;
    private boolean calm = true;
    private int begun;
    private int windowBegan;
    private @Nullable String violation;
    /** An excused loss, which ends the run. */
    private @Nullable String loss;

    /** @param operations that clients begin */
    protected SeedRun(long seed, int operations, @Nullable Consumer<String> reader) {
        this.seed = seed;
        this.operations = operations;
        this.trace = new Trace(reader, timeline);
    }

    public final Timeline timeline() {
        return timeline;
    }

    public final Trace trace() {
        return trace;
    }

    public final EventCounters eventCounters() {
        return eventCounters;
    }

    public abstract Workload workload();

    public abstract StepScheduler<?> scheduler();

    // --- its end ---

    /** The first violation counts. */
    protected final void note(String what) {
        if (violation == null && loss == null && !isOver()) {
            violation = what;
            trace.tell("VIOLATION " + what);
        }
    }

    /** Reports a broken guarantee: ends the run, even where an agent's duty cycle reports the error and continues. */
    public final void violation(String what) {
        note(what);
        throw new ViolationError(what);
    }

    /** Ends the run without a violation, likewise. */
    protected final void endWithLoss(String what) {
        if (violation == null && loss == null && !isOver()) {
            loss = what;
            onLoss(what);
        }
        throw new LossError(what);
    }

    /** Called once. */
    protected void onLoss(String what) {
        // Counted where it is caught.
    }

    /** Rethrows an error that was thrown and swallowed. */
    public void checkOn() {
        if (violation != null && !isOver()) {
            throw new ViolationError(violation);
        }
        if (loss != null && !isOver()) {
            throw new LossError(loss);
        }
    }

    /** Whether its tasks are only unwound. */
    public boolean isOver() {
        return false;
    }

    protected final SeedReport report() {
        return new SeedReport(
                seed, trace.hash(), begun, eventCounters, workload().coverage(), violation);
    }

    // --- operations ---

    public final void onBegun() {
        begun++;
    }

    protected final int begun() {
        return begun;
    }

    protected final boolean isBegun() {
        return begun >= operations;
    }

    /** Operations since the last pause. */
    protected final int begunInWindow() {
        return begun - windowBegan;
    }

    protected final void beginWindow() {
        windowBegan = begun;
    }

    /** Whether clients begin operations. */
    public final boolean isAccepting() {
        return accepting && !isBegun();
    }

    /** Returns what was so before. */
    protected final boolean accept(boolean now) {
        final boolean before = accepting;
        accepting = now;
        return before;
    }

    /** Whether no faults are injected now: a checker runs, or servers start. */
    public final boolean isCalm() {
        return calm;
    }

    protected final void calm(boolean now) {
        calm = now;
    }

    /** A client's operation has ended. */
    public void onEnded(Request request) {
        scheduler().onProgress();
        eventCounters.count("operations");
        trace.mix(timeline.nowNs());
        trace.mix(request.version() * 31 + request.status().ordinal());
    }

    /** A server has answered. */
    public final void noteAnswer(Request request) {
        if (request.has(ResultBits.REPLAYED)) {
            eventCounters.count("answers replayed");
        }
        if (request.has(ResultBits.EXPIRED)) {
            eventCounters.count("expiries");
        }
        trace.mix(request.sequence() * 31 + request.status().ordinal());
    }
}
