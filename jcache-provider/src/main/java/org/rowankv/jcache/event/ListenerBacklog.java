package org.rowankv.jcache.event;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Backlog of an asynchronous listener: bounded in events, and in bytes by a share of the heap, so that a slow listener
 * loses events instead of exhausting the heap. One event always fits. Guarded by its user.
 */
final class ListenerBacklog {
    private static final int SHARE_OF_HEAP = 16;

    private final Queue<Notification> queue = new ArrayDeque<>();
    private final int maxEvents;
    private final long maxBytes = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP;
    private long bytes;

    ListenerBacklog(int maxEvents) {
        this.maxEvents = maxEvents;
    }

    /** Adds a notification; false if the backlog is full. */
    boolean offer(Notification notification) {
        final boolean full = queue.size() >= maxEvents || bytes + notification.length() > maxBytes;
        if (full && !queue.isEmpty()) {
            return false;
        }
        queue.add(notification);
        bytes += notification.length();
        return true;
    }

    @Nullable
    Notification poll() {
        final Notification next = queue.poll();
        bytes -= next == null ? 0 : next.length();
        return next;
    }

    void clear() {
        queue.clear();
        bytes = 0;
    }

    int size() {
        return queue.size();
    }
}
