package org.rowankv.jcache.event;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The notifications of one key on their way to the listeners, in the order of the key's versions. Exists while somebody
 * uses it.
 *
 * <p>Two locks, never held together with a callback running: {@link #order} spans the operation and the queueing of what
 * it did, which makes the queue's order the store's; the monitor guards queue, drainer and the notifications' progress.
 */
final class KeyEventQueue {
    private final ReentrantLock order = new ReentrantLock();
    private final Queue<Notification> queue = new ArrayDeque<>();
    private @Nullable Thread drainer;
    private int depth;
    /** Guarded by the hub's map. */
    private int users;

    ReentrantLock order() {
        return order;
    }

    KeyEventQueue used() {
        users++;
        return this;
    }

    /** Whether nobody uses the lane any more. */
    boolean released() {
        return --users == 0;
    }

    synchronized void add(Notification notification) {
        queue.add(notification);
    }

    /**
     * The next notification for the caller to tell, in order; or null when the caller has nothing left to do, because its
     * own was told, or will be by another thread.
     *
     * @param mine the caller's last notification
     * @param mayWait whether the caller can wait for another thread that is telling
     */
    synchronized @Nullable Notification nextOrAwait(Notification mine, boolean mayWait) {
        final Thread me = Thread.currentThread();
        boolean interrupted = false;
        try {
            while (drainer != null && drainer != me) {
                if (mine.isDone()) {
                    return null;
                }
                if (!mayWait) {
                    mine.abandon();
                    return null;
                }
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true; // the listeners must have run; the caller sees the interrupt afterwards
                }
            }
        } finally {
            if (interrupted) {
                me.interrupt();
            }
        }
        final Notification head = queue.peek();
        if (head == null || (mine.isDone() && !head.isAbandoned())) {
            return null;
        }
        drainer = me;
        depth++;
        return queue.remove();
    }

    synchronized void told(Notification notification, @Nullable Throwable failure) {
        notification.done(failure);
        if (--depth == 0) {
            drainer = null;
        }
        notifyAll();
    }
}
