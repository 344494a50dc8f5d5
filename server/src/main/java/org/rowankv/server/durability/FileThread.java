package org.rowankv.server.durability;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Runs one piece of file work on a thread of its own while the caller waits. An application thread may be interrupted
 * at any moment, and an interrupted thread that uses a FileChannel closes it for everyone; so application threads
 * never touch one. The wait is not cut short by an interrupt; the caller's interrupt status is kept.
 */
public final class FileThread {
    private FileThread() {}

    /** Result of the work; what the work throws unchecked is thrown here, checked exceptions are not expected of it. */
    public static <T> T call(String name, Callable<T> work) {
        final AtomicReference<@Nullable T> result = new AtomicReference<>();
        final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        final Thread thread = new Thread(
                () -> {
                    try {
                        result.set(work.call());
                    } catch (Throwable e) {
                        failure.set(e);
                    }
                },
                name);
        thread.setDaemon(true);
        // Whatever loaded the caller must not be held by this thread.
        thread.setContextClassLoader(null);
        thread.start();
        join(thread);
        final Throwable thrown = failure.get();
        if (thrown instanceof RuntimeException e) {
            throw e;
        }
        if (thrown instanceof Error e) {
            throw e;
        }
        final T value = result.get();
        if (thrown != null || value == null) {
            throw new IllegalStateException(name + " failed", thrown);
        }
        return value;
    }

    /** {@link #call} for work without a result. */
    public static void run(String name, Runnable work) {
        final boolean done = call(name, () -> {
            work.run();
            return true;
        });
        assert done;
    }

    /** Waits for the end of a thread, without regard to interrupts, which stay the caller's. */
    public static void join(Thread thread) {
        boolean interrupted = false;
        while (true) {
            try {
                thread.join();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
