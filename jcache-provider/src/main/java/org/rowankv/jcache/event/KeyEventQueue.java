package org.rowankv.jcache.event;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Queue of the pending notifications of one key, in the order of its versions. Exists while it has users.
 *
 * <p>Two locks, neither held while a callback runs: {@link #order} spans an operation and the queueing of its events,
 * so the queue has the store's order; {@link #progress} guards queue, drainer and the progress of notifications.
 */
final class KeyEventQueue {
    private final ReentrantLock order = new ReentrantLock();
    private final ReentrantLock progress = new ReentrantLock();
    private final Condition progressed = progress.newCondition();
    private final Queue<Notification> queue = new ArrayDeque<>();
    private @Nullable Thread drainer;
    private int depth;
    /** Guarded by the hub's map. */
    private int users;

    ReentrantLock order() {
        return order;
    }

    KeyEventQueue retain() {
        users++;
        return this;
    }

    /** Whether that was the last user. */
    boolean release() {
        return --users == 0;
    }

    void add(Notification notification) {
        progress.lock();
        try {
            queue.add(notification);
        } finally {
            progress.unlock();
        }
    }

    /**
     * The next notification that the caller must deliver, in order; null if the caller's own is delivered, or another
     * thread will deliver it.
     *
     * @param own the caller's last notification
     * @param mayWait whether the caller may wait for another delivering thread
     */
    @Nullable
    Notification nextOrAwait(Notification own, boolean mayWait) {
        progress.lock();
        try {
            return nextOrAwaitLocked(own, mayWait);
        } finally {
            progress.unlock();
        }
    }

    private @Nullable Notification nextOrAwaitLocked(Notification own, boolean mayWait) {
        final Thread current = Thread.currentThread();
        while (drainer != null && drainer != current) {
            if (own.isDone()) {
                return null;
            }
            if (!mayWait) {
                own.abandon();
                return null;
            }
            progressed.awaitUninterruptibly(); // the listeners must run first
        }
        final Notification head = queue.peek();
        if (head == null || (own.isDone() && !head.isAbandoned())) {
            return null;
        }
        drainer = current;
        depth++;
        return queue.remove();
    }

    void complete(Notification notification, @Nullable Throwable failure) {
        progress.lock();
        try {
            notification.done(failure);
            if (--depth == 0) {
                drainer = null;
            }
            progressed.signalAll();
        } finally {
            progress.unlock();
        }
    }
}
