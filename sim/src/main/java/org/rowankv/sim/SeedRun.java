package org.rowankv.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.sim.workload.Workload;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * The run of one seed, of either form: its time, its trace, what it has met, and its first violation. Owned by one {@link
 * SimThread}.
 */
public abstract class SeedRun {
    private final SimPlan plan;
    private final Timeline timeline = new Timeline();
    private final Trace trace;
    private final EventCounters eventCounters = new EventCounters();
    private final Deque<PlannedFault> faultsToCome;
    private final List<SimClient> clients = new ArrayList<>();

    private boolean accepting;
    private boolean calm = true;
    private int begun;
    private int windowBegan;
    private @Nullable String violation;
    /** An excused loss, which ends the run. */
    private @Nullable String loss;

    protected SeedRun(SimPlan plan, @Nullable Consumer<String> reader) {
        this.plan = plan;
        this.trace = new Trace(reader, timeline);
        this.faultsToCome = new ArrayDeque<>(plan.faults());
    }

    public final SimPlan plan() {
        return plan;
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

    public abstract StepScheduler scheduler();

    public abstract SeedServices services();

    /** In which the servers serve. */
    public abstract Configuration configuration();

    /** The hash of a key, as the driver computes it. */
    public final long hashOf(int cacheId, byte[] key, int offset, int length) {
        return new KeyHash(configuration().hashSeed()).hash(cacheId, key, offset, length);
    }

    public final int shardOf(long hash) {
        return ShardMap.shardOf(hash, configuration().shardCount());
    }

    /** Sets the location of a request's key, as the driver does. */
    public final void place(Request request) {
        final long hash = hashOf(request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
        request.placed(hash, shardOf(hash));
    }

    // --- its faults ---

    /** The next fault, if its time has come. */
    protected final @Nullable PlannedFault takeFault() {
        final PlannedFault next = faultsToCome.peek();
        if (next == null || next.afterOperations() > begun) {
            return null;
        }
        trace.tell("fault: " + next);
        eventCounters.count("fault " + next.kind());
        return faultsToCome.remove();
    }

    protected final void dropFaults() {
        faultsToCome.clear();
    }

    /** Reports an effect that only damage explains: a violation unless a bit has flipped. */
    public abstract void requireRotten(String what);

    /**
     * Reports that an acknowledged write is gone, or was replaced by a wrong one: a violation, unless a device is the
     * cause. Throws.
     */
    public abstract void loss(boolean isWrong, String what);

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
                plan.seed(), trace.hash(), begun, eventCounters, workload().coverage(), violation);
    }

    // --- clients and their operations ---

    protected final void add(SimClient client) {
        clients.add(client);
        scheduler().add(client);
    }

    public final List<SimClient> clients() {
        return clients;
    }

    public final void onBegun() {
        begun++;
        if (isBegun()) {
            clients.forEach(scheduler()::changed);
        }
    }

    public final int begun() {
        return begun;
    }

    protected final boolean isBegun() {
        return begun >= plan.operations();
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
        clients.forEach(scheduler()::changed);
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
