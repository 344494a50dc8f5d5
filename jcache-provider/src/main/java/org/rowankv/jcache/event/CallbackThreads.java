package org.rowankv.jcache.event;

/**
 * The threads that are inside a listener or an entry processor at this moment. Such a thread never waits for another
 * thread's callback, so that callbacks which use the cache cannot wait for each other in a circle. Thread-safe.
 */
public final class CallbackThreads {
    private final PerThreadSlots<Integer> depths = new PerThreadSlots<>();

    /** Notes that the current thread begins a callback; paired with {@link #exit}. */
    public void enter() {
        final Integer depth = depths.get();
        depths.set(depth == null ? 1 : depth + 1);
    }

    public void exit() {
        final Integer depth = depths.get();
        depths.set(depth == null || depth == 1 ? null : depth - 1);
    }

    public boolean isCurrentInside() {
        return depths.get() != null;
    }
}
