package org.rowankv.server.embedded;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A second thread that uses a store while the first one waits: it has another worker context, and so another log. */
final class SecondCaller implements AutoCloseable {
    private final ExecutorService thread = another();

    /** One whose first choice of two worker contexts is not that of this thread. */
    private static ExecutorService another() {
        while (true) {
            final ExecutorService candidate = Executors.newSingleThreadExecutor();
            final long[] id = new long[1];
            run(candidate, () -> id[0] = Thread.currentThread().getId());
            if ((id[0] & 1) != (Thread.currentThread().getId() & 1)) {
                return candidate;
            }
            candidate.shutdown();
        }
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
