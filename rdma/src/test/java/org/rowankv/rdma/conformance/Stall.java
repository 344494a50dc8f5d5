package org.rowankv.rdma.conformance;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.rowankv.runtime.Chaos;

/**
 * Runs something on a thread of its own and holds that thread the first time it reaches a chaos point, as SIGSTOP
 * would, until it is released. Several may be held at once.
 */
public final class Stall<T> implements AutoCloseable {
    private static final long TIMEOUT_SECONDS = 60;
    private static final List<Stall<?>> ACTIVE = new CopyOnWriteArrayList<>();

    private final String point;
    private final Supplier<T> work;
    private final Thread thread;
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile boolean held;
    private volatile T result;
    private volatile Throwable failure;

    private Stall(String point, Supplier<T> work) {
        this.point = point;
        this.work = work;
        this.thread = new Thread(this::run, "stalled at " + point);
    }

    /** Starts the work; returns when it is held at the point. */
    public static <T> Stall<T> at(String point, Supplier<T> work) {
        final Stall<T> stall = new Stall<>(point, work);
        ACTIVE.add(stall);
        Chaos.install(name -> ACTIVE.forEach(each -> each.onPoint(name)));
        stall.thread.start();
        await(stall.reached, "no thread reached " + point);
        return stall;
    }

    /** Whether the thread is held, and did not end without reaching the point. */
    public boolean isHeld() {
        return held;
    }

    /** Lets the thread continue; returns the work's result. */
    public T release() {
        released.countDown();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (thread.isAlive() || failure != null) {
            throw new AssertionError("the stalled work did not end well", failure);
        }
        return result;
    }

    private void onPoint(String name) {
        if (Thread.currentThread() == thread && name.equals(point) && reached.getCount() > 0) {
            held = true;
            reached.countDown();
            await(released, "never released from " + point);
        }
    }

    private void run() {
        try {
            result = work.get();
        } catch (RuntimeException | Error e) {
            failure = e;
        } finally {
            // If the work does not pass the point, the test must not wait for ever.
            reached.countDown();
        }
    }

    private static void await(CountDownLatch latch, String complaint) {
        try {
            if (!latch.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError(complaint);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(complaint, e);
        }
    }

    @Override
    public void close() {
        released.countDown();
        ACTIVE.remove(this);
    }
}
