package org.rowankv.server.configstore;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.concurrent.DetachedThread;

/** One thread of a configuration store, which makes its calls one after the other. Thread-safe. */
public final class StoreThread {
    private final ExecutorService thread;
    private final String store;
    private final Function<@Nullable Throwable, String> failed;

    /**
     * @param store that is closed when calls are refused, for messages
     * @param failed what to say of an unexpected exception
     */
    public StoreThread(String name, String store, Function<@Nullable Throwable, String> failed) {
        this.thread = Executors.newSingleThreadExecutor(work -> DetachedThread.of(work, name));
        this.store = store;
        this.failed = failed;
    }

    /**
     * Waits for a call. An interrupt does not end the wait; the interrupt status is kept.
     *
     * @throws ConfigurationStoreException if the store is closed, or the call throws any exception
     */
    public <T extends @Nullable Object> T call(Callable<T> work) {
        boolean interrupted = false;
        try {
            final Future<T> result = thread.submit(work);
            while (true) {
                try {
                    return result.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (RejectedExecutionException e) {
            throw new ConfigurationStoreException(store + " is closed", e);
        } catch (ExecutionException e) {
            final Throwable cause = e.getCause();
            throw cause instanceof ConfigurationStoreException known
                    ? known
                    : new ConfigurationStoreException(failed.apply(cause), cause);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends it; a call in progress completes. */
    public void end() {
        thread.shutdown();
    }
}
