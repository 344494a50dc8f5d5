package org.rowankv.server;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import org.rowankv.runtime.SlotPool;
import org.rowankv.runtime.StackProbe;
import org.rowankv.server.log.Segments;
import org.rowankv.server.request.Worker;

/**
 * The worker contexts of a server. Callers borrow them; whoever comes next finishes what a caller that died has left in one.
 * There is one more, the agents' own, which nobody can borrow. Thread-safe once all are added.
 */
final class WorkerPool {
    private static final int PROBE_DEPTH = 6;

    private final SlotPool slots;
    private final List<Worker> workers = new ArrayList<>();

    /** @param count that can be borrowed */
    WorkerPool(int count) {
        this.slots = new SlotPool(count);
    }

    /** Before the start: those for callers first, then the agents' own. */
    void add(Worker worker) {
        workers.add(worker);
    }

    Worker worker(int slot) {
        return workers.get(slot);
    }

    Worker agentsOwn() {
        return workers.get(slots.count());
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

    /** What is done with a context that nobody else has meanwhile. */
    @FunctionalInterface
    private interface Turn {
        boolean with(Worker worker);
    }

    /** False when the context is lent, or the turn says so. */
    private boolean borrowed(int slot, Turn turn) {
        // Also on threads of callers, at any depth.
        StackProbe.require(PROBE_DEPTH);
        if (!slots.tryBorrow(slot)) {
            return false;
        }
        try {
            return turn.with(workers.get(slot));
        } finally {
            slots.drop(slot);
        }
    }

    /** Finishes what callers that died have left in contexts which nobody has borrowed since. */
    void finishLeftovers() {
        for (int slot = 0; slot < slots.count(); slot++) {
            if (workers.get(slot).hasLeftover()) {
                borrowed(slot, Worker::finishLeftover);
            }
        }
    }

    void retireLogsOlderThan(int sequence, Segments segments) {
        for (int slot = 0; slot < slots.count(); slot++) {
            final int segment = workers.get(slot).tLog().openSegment();
            if (segment >= 0 && segments.sequence(segment) < sequence) {
                borrowed(slot, worker -> {
                    final boolean idle = worker.finishLeftover();
                    if (idle) {
                        worker.retireLog();
                    }
                    return idle;
                });
            }
        }
    }

    /**
     * Finishes what callers that died have left, and gives back what idle workers have drawn ahead, here and at the backups;
     * false while there is a worker that is not idle.
     */
    boolean releaseGrants() {
        boolean allIdle = true;
        for (int slot = 0; slot < slots.count(); slot++) {
            allIdle &= borrowed(slot, worker -> {
                final boolean idle = worker.finishLeftover();
                if (idle) {
                    worker.releaseGrants();
                }
                return idle;
            });
        }
        return allIdle;
    }

    /**
     * Borrows all, for good, and lets what they have under way end.
     *
     * @param rest waits, told how often it has before
     * @param isOver nothing that is under way will end
     */
    void close(IntConsumer rest, BooleanSupplier isOver) {
        for (int slot = 0; slot < slots.count(); slot++) {
            int waits = 0;
            while (!slots.tryBorrow(slot)) {
                rest.accept(waits++);
            }
            while (!workers.get(slot).finishLeftover() && !isOver.getAsBoolean()) {
                rest.accept(waits++);
            }
        }
    }

    /** After {@link #close}, and after the agents. */
    void closeLogs() {
        workers.forEach(Worker::close);
    }

    long tLogBytes() {
        long bytes = 0;
        for (Worker worker : workers) {
            bytes += worker.tLog().bytesWritten();
        }
        return bytes;
    }

    long expiredObjects() {
        long objects = 0;
        for (Worker worker : workers) {
            objects += worker.expiredObjects();
        }
        return objects;
    }
}
