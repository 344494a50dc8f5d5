package org.rowankv.jcache.event;

/**
 * Set of the threads inside a listener or entry processor. Such a thread never waits for a callback of another thread,
 * so callbacks that use the cache cannot deadlock. Thread-safe.
 */
public final class CallbackThreads {
    private final PerThreadSlots<Integer> depths = new PerThreadSlots<>();

    /** Records that the current thread enters a callback; paired with {@link #exit}. */
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
