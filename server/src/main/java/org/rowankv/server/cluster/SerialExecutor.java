package org.rowankv.server.cluster;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.RunningTask;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.Signal;

/**
 * Does what may wait, one after the other, on a thread of its own. A chore that throws ends the service, as a broken invariant of an
 * agent does. Else other servers would wait without end for the chores behind it. For any thread.
 */
final class SerialExecutor implements Executor {
    private static final long LOOK_NS = 1_000_000_000;

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

    /** Has that done; once {@link #end} was called it is not done any more. */
    @Override
    public void execute(Runnable chore) {
        queue.add(chore);
        signal.give();
    }

    private void run() {
        try {
            while (!ending) {
                final Runnable chore = queue.poll();
                if (chore == null) {
                    final boolean unused = signal.await(LOOK_NS);
                } else {
                    chore.run();
                }
            }
        } catch (InterruptedException e) {
            // That is how it is told to end.
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            errors.broken(name, e);
            throw e;
        }
    }

    /** Nothing more is begun, and what is under way is interrupted. */
    void end() {
        ending = true;
        signal.give();
        work.interrupt();
    }

    /** After {@link #end}: waits until nothing is under way. */
    void awaitEnd() {
        work.join();
    }
}
