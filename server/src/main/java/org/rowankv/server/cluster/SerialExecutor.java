package org.rowankv.server.cluster;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.RunningTask;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.Signal;

/**
 * Single-threaded executor for deferrable work. A task that throws ends the service, as a broken invariant of an agent
 * does: otherwise other servers would wait forever for the tasks behind it. Thread-safe.
 */
final class SerialExecutor implements Executor {
    private static final long POLL_NS = 1_000_000_000;

    private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();
    private final String name;
    private final ErrorLog errors;
    private final Signal signal;
    private final RunningTask work;
    private volatile boolean ending;

    /** @param name of the thread */
    SerialExecutor(String name, Scheduling scheduling, ErrorLog errors) {
        this.name = name;
        this.errors = errors;
        this.signal = scheduling.signal();
        this.work = scheduling.begin(name, true, this::run);
    }

    /** Queues a task; after {@link #end} it is not run. */
    @Override
    public void execute(Runnable task) {
        queue.add(task);
        signal.give();
    }

    private void run() {
        try {
            while (!ending) {
                final Runnable task = queue.poll();
                if (task == null) {
                    final boolean unused = signal.await(POLL_NS);
                } else {
                    task.run();
                }
            }
        } catch (InterruptedException e) {
            // An interrupt is the signal to end.
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            errors.broken(name, e);
            if (e instanceof Error error) {
                throw error;
            }
        }
    }

    /** Starts no more tasks, and interrupts the running one. */
    void end() {
        ending = true;
        signal.give();
        work.interrupt();
    }

    /** Waits until no task runs. Call after {@link #end}. */
    void awaitEnd() {
        work.join();
    }
}
