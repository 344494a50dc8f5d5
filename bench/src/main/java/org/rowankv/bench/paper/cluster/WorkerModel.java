package org.rowankv.bench.paper.cluster;

import java.util.ArrayDeque;
import org.rowankv.bench.paper.model.EventQueue;
import org.rowankv.bench.paper.model.ModelEvent;

/** A worker thread: one task at a time, in order of arrival. */
final class WorkerModel {
    final ServerModel server;
    final int number;
    final Log log;
    final Log rpcLog;
    private final EventQueue queue;
    private final ArrayDeque<ModelEvent> tasks = new ArrayDeque<>();
    private boolean busy;

    WorkerModel(ServerModel server, int number, EventQueue queue, Log log, Log rpcLog) {
        this.server = server;
        this.number = number;
        this.queue = queue;
        this.log = log;
        this.rpcLog = rpcLog;
    }

    /** Adds a task, which ends with {@link #release}. */
    void submit(long nowNs, ModelEvent task) {
        if (busy) {
            tasks.addLast(task);
        } else {
            busy = true;
            task.happen(nowNs);
        }
    }

    /** Adds a task that is looked for before any request: a completion of the network card. */
    void submitFirst(long nowNs, ModelEvent task) {
        if (busy) {
            tasks.addFirst(task);
        } else {
            busy = true;
            task.happen(nowNs);
        }
    }

    /** Uses the processor, then goes on. */
    void compute(long nowNs, long costNs, ModelEvent then) {
        queue.at(nowNs + costNs, then);
    }

    /** Ends a task, and begins the next. */
    void release(long nowNs) {
        final ModelEvent next = tasks.pollFirst();
        if (next == null) {
            busy = false;
        } else {
            next.happen(nowNs);
        }
    }
}
