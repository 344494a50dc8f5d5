package org.rowankv.server.dispatch;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.rowankv.runtime.StackProbe;
import org.rowankv.runtime.concurrent.SlotPool;
import org.rowankv.server.log.Segments;
import org.rowankv.server.request.Worker;

/**
 * The worker contexts of a server, which callers and event loops acquire for mutations. The next owner completes what
 * a dead caller has left in one. One more context belongs to the agents; no caller can acquire it. Thread-safe.
 */
public final class WorkerPool {
    private static final int PROBE_DEPTH = 6;

    private final SlotPool slots;
    private final List<Worker> workers = new ArrayList<>();
    /** Slots that {@link #close} has acquired. */
    private final BitSet closed = new BitSet();

    private WorkerPool(int count) {
        this.slots = new SlotPool(count);
    }

    /** Creates one of the contexts. */
    @FunctionalInterface
    public interface Making {
        /** @param loop the event loop that acquires it, −1 if any may */
        Worker make(int slot, int loop);
    }

    /** Creates the contexts for callers and the one of the agents. */
    public static WorkerPool of(int count, int loops, Making making) {
        final WorkerPool pool = new WorkerPool(count);
        for (int slot = 0; slot <= count; slot++) {
            final boolean belongsToLoop = slot < count && loops > 0 && loops <= count;
            pool.workers.add(making.make(slot, belongsToLoop ? slot % loops : -1));
        }
        return pool;
    }

    Worker worker(int slot) {
        return workers.get(slot);
    }

    public Worker agentsOwn() {
        return workers.get(slots.count());
    }

    /** The contexts of an event loop; exclusive to it if there are as many as loops. */
    @SuppressWarnings("ReturnsArray") // made for the caller
    public int[] slotsOfLoop(int loop, int loops) {
        if (atOnce() > 1 && loops > slots.count()) {
            throw new IllegalArgumentException(
                    loops + " event loops need as many worker contexts, not " + slots.count());
        }
        final int shares = Math.min(loops, slots.count());
        return IntStream.range(0, slots.count())
                .filter(slot -> slot % shares == loop % shares)
                .toArray();
    }

    /** Mutations in flight in one context. */
    public int atOnce() {
        return workers.get(0).atOnce();
    }

    boolean tryAcquire(int slot) {
        return slots.tryAcquire(slot);
    }

    /** Acquires a free context; −1 if there is none. */
    int tryAcquire() {
        return slots.tryAcquire();
    }

    void release(int slot) {
        slots.release(slot);
    }

    /** As {@link #release}, after an error, which may have been the end of the stack. */
    void drop(int slot) {
        slots.drop(slot);
    }

    /**
     * Acquires a context, completes what is unfinished in it, and runs the action; false if the context is in use or
     * not idle.
     */
    private boolean whileIdle(int slot, Consumer<Worker> action) {
        // Also runs on threads of callers, at any stack depth.
        StackProbe.require(PROBE_DEPTH);
        if (!slots.tryAcquire(slot)) {
            return false;
        }
        try {
            final Worker worker = workers.get(slot);
            final boolean idle = worker.finishLeftover();
            if (idle) {
                action.accept(worker);
            }
            worker.settleLog();
            return idle;
        } finally {
            slots.drop(slot);
        }
    }

    /** Completes what dead callers have left in contexts that no caller has acquired since. */
    public void completeAbandoned() {
        for (int slot = 0; slot < slots.count(); slot++) {
            if (workers.get(slot).hasLeftover()) {
                whileIdle(slot, worker -> {});
            }
        }
    }

    /** Closes the logs of idle contexts; the owners of the others close theirs. Returns whether it closed one. */
    public boolean retireLogsOlderThan(long sequence, Segments segments) {
        boolean any = false;
        for (int slot = 0; slot < slots.count(); slot++) {
            final int segment = workers.get(slot).tLog().openSegment();
            if (segment >= 0 && segments.sequence(segment) < sequence) {
                workers.get(slot).requestRetire(sequence);
                any |= whileIdle(slot, Worker::retireLog);
            }
        }
        return any;
    }

    /**
     * Completes what dead callers have left, and releases unused grants of idle workers, here and at the backups; false
     * while any worker is not idle.
     */
    public boolean releaseGrants() {
        boolean allIdle = true;
        for (int slot = 0; slot < slots.count(); slot++) {
            final boolean released = whileIdle(slot, Worker::releaseGrants);
            if (!released) {
                workers.get(slot).requestRelease(); // by its current owner
            }
            allIdle &= released;
        }
        return allIdle;
    }

    /**
     * Acquires all contexts permanently, and waits until their mutations end. A context that its owner does not release
     * stays as it is: see {@link #isInUse}.
     *
     * @param rest one pause of the wait; the argument counts earlier pauses
     * @param areLate whether the deadlines of all owners have passed
     * @param isOver whether no mutation in flight can end any more
     */
    public void close(IntConsumer rest, BooleanSupplier areLate, BooleanSupplier isOver) {
        for (int slot = 0; slot < slots.count(); slot++) {
            int waits = 0;
            while (!tryClose(slot) && !areLate.getAsBoolean()) {
                rest.accept(waits++);
            }
            while (closed.get(slot) && !workers.get(slot).finishLeftover() && !isOver.getAsBoolean()) {
                rest.accept(waits++);
            }
        }
    }

    private boolean tryClose(int slot) {
        if (!closed.get(slot) && slots.tryAcquire(slot)) {
            closed.set(slot);
        }
        return closed.get(slot);
    }

    /** After {@link #close}: whether an owner is left, which may still write. */
    public boolean isInUse() {
        return closed.cardinality() < slots.count();
    }

    /** Call after {@link #close}, and after the agents are closed. Leaves the contexts in use alone. */
    public void closeLogs() {
        closed.stream().forEach(slot -> workers.get(slot).close());
        agentsOwn().close();
    }

    public long tLogBytes() {
        return sum(worker -> worker.tLog().bytesWritten());
    }

    public long replacedSessions() {
        return sum(Worker::replacedSessions);
    }

    public long expiredObjects() {
        return sum(Worker::expiredObjects);
    }

    private long sum(ToLongFunction<Worker> count) {
        long sum = 0;
        for (Worker worker : workers) {
            sum += count.applyAsLong(worker);
        }
        return sum;
    }
}
