package org.rowankv.server.dispatch;

import java.util.ArrayList;
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
 * The worker contexts of a server. Callers borrow them; whoever comes next finishes what a caller that died has left in one.
 * There is one more, the agents' own, which nobody can borrow. Thread-safe.
 */
public final class WorkerPool {
    private static final int PROBE_DEPTH = 6;

    private final SlotPool slots;
    private final List<Worker> workers = new ArrayList<>();

    private WorkerPool(int count) {
        this.slots = new SlotPool(count);
    }

    /** Makes one of the contexts. */
    @FunctionalInterface
    public interface Making {
        /** @param loop the event loop that borrows it, −1 if that is none in particular */
        Worker make(int slot, int loop);
    }

    /** Those for callers, then the agents' own. */
    public static WorkerPool of(int count, int loops, Making making) {
        final WorkerPool pool = new WorkerPool(count);
        for (int slot = 0; slot <= count; slot++) {
            final boolean isOfALoop = slot < count && loops > 0 && loops <= count;
            pool.workers.add(making.make(slot, isOfALoop ? slot % loops : -1));
        }
        return pool;
    }

    Worker worker(int slot) {
        return workers.get(slot);
    }

    public Worker agentsOwn() {
        return workers.get(slots.count());
    }

    /** Those that an event loop borrows: no other one's, if there are as many as loops. */
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

    /** Mutations under way at once in each of them. */
    public int atOnce() {
        return workers.get(0).atOnce();
    }

    boolean tryBorrow(int slot) {
        return slots.tryBorrow(slot);
    }

    /** A free one, or −1. */
    int tryBorrow() {
        return slots.tryBorrow();
    }

    void giveBack(int slot) {
        slots.giveBack(slot);
    }

    /** As {@link #giveBack}, for who has met an error: it may have been the end of the stack. */
    void drop(int slot) {
        slots.drop(slot);
    }

    /** Finishes what is left in a context, and then does that with it; false when the context is lent, or not idle. */
    private boolean whileIdle(int slot, Consumer<Worker> action) {
        // Also on threads of callers, at any depth.
        StackProbe.require(PROBE_DEPTH);
        if (!slots.tryBorrow(slot)) {
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

    /** Finishes what callers that died have left in contexts which nobody has borrowed since. */
    void completeAbandoned() {
        for (int slot = 0; slot < slots.count(); slot++) {
            if (workers.get(slot).hasLeftover()) {
                whileIdle(slot, worker -> {});
            }
        }
    }

    /** Closes the logs of idle contexts; the borrowers of the others close theirs. Returns whether it closed one. */
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
     * Finishes what callers that died have left, and gives back what idle workers have drawn ahead, here and at the backups;
     * false while there is a worker that is not idle.
     */
    public boolean releaseGrants() {
        boolean allIdle = true;
        for (int slot = 0; slot < slots.count(); slot++) {
            final boolean released = whileIdle(slot, Worker::releaseGrants);
            if (!released) {
                workers.get(slot).requestRelease(); // by who has it
            }
            allIdle &= released;
        }
        return allIdle;
    }

    /**
     * Borrows all, for good, and lets what they have under way end.
     *
     * @param rest waits, told how often it has before
     * @param isOver nothing that is under way will end
     */
    public void close(IntConsumer rest, BooleanSupplier isOver) {
        for (int slot = 0; slot < slots.count(); slot++) {
            int waits = 0;
            // Ends: the waits of the context's borrower have deadlines, and an event loop has left it before.
            while (!slots.tryBorrow(slot)) {
                rest.accept(waits++);
            }
            while (!workers.get(slot).finishLeftover() && !isOver.getAsBoolean()) {
                rest.accept(waits++);
            }
        }
    }

    /** After {@link #close}, and after the agents. */
    public void closeLogs() {
        workers.forEach(Worker::close);
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
