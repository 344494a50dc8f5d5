package org.rowankv.server.embedded;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A thread that uses a store while its owner waits. The thread's number determines which of two worker contexts it
 * acquires, and so which log it writes to.
 */
final class CallerThread implements AutoCloseable {
    private static final int CONTEXTS = 2;

    private final ExecutorService thread;

    /** @param context preferred worker context, of a store with two */
    CallerThread(int context) {
        this.thread = threadOf(context);
    }

    /** A thread that prefers the worker context that this thread does not use. */
    static CallerThread ofAnotherContext() {
        return new CallerThread(1 - contextOf(Thread.currentThread()));
    }

    private static ExecutorService threadOf(int context) {
        while (true) {
            final ExecutorService candidate = Executors.newSingleThreadExecutor();
            final int[] found = new int[1];
            run(candidate, () -> found[0] = contextOf(Thread.currentThread()));
            if (found[0] == context) {
                return candidate;
            }
            candidate.shutdown();
        }
    }

    private static int contextOf(Thread thread) {
        return (int) (thread.getId() % CONTEXTS);
    }

    void run(Runnable work) {
        run(thread, work);
    }

    private static void run(ExecutorService thread, Runnable work) {
        try {
            thread.submit(work).get();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    @Override
    public void close() {
        thread.shutdown();
    }
}
