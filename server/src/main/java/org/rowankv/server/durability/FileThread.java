package org.rowankv.server.durability;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.concurrent.DetachedThread;

/**
 * A thread for one piece of file work, while the caller waits. An application thread may be interrupted at any moment,
 * and an interrupted thread that uses a FileChannel closes it for all users. So application threads never use one. An
 * interrupt does not shorten the wait; the caller's interrupt status is kept.
 */
public final class FileThread {
    private FileThread() {}

    /** Returns the result of the work and rethrows its unchecked exceptions; checked ones are not expected. */
    public static <T> T call(String name, Callable<T> work) {
        final AtomicReference<@Nullable T> result = new AtomicReference<>();
        final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        final Thread thread = DetachedThread.of(
                () -> {
                    try {
                        result.set(work.call());
                    } catch (Throwable e) {
                        failure.set(e);
                    }
                },
                name);
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

    /** Waits for the end of a thread, ignoring interrupts and keeping the caller's interrupt status. */
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
