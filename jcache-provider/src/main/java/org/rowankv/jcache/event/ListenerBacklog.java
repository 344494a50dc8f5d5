package org.rowankv.jcache.event;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * What an asynchronous listener has not been told yet: bounded in events, and in bytes by a share of the heap, so that a
 * slow listener costs events and not the process. One event always fits. Guarded by its user.
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

    /** Whether there was room. */
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
