package org.rowankv.jcache.event;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The threads that are inside a listener or an entry processor at this moment. Such a thread never waits for another
 * thread's callback, so that callbacks which use the cache cannot wait for each other in a circle. Thread-safe.
 */
public final class CallbackThreads {
    private final Map<Thread, Integer> depths = new ConcurrentHashMap<>();

    /** Notes that the current thread begins a callback; paired with {@link #exit}. */
    public void enter() {
        depths.merge(Thread.currentThread(), 1, Integer::sum);
    }

    public void exit() {
        depths.computeIfPresent(Thread.currentThread(), (thread, depth) -> depth == 1 ? null : depth - 1);
    }

    public boolean isCurrentInside() {
        return !depths.isEmpty() && depths.containsKey(Thread.currentThread());
    }
}
