package org.rowankv.runtime.agent;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** An agent that does the requested work, counts its runners, and detects two at once. */
final class CountingAgent implements Agent {
    final AtomicLong asked = new AtomicLong();
    final AtomicLong done = new AtomicLong();
    final AtomicLong cycles = new AtomicLong();
    final AtomicInteger starts = new AtomicInteger();
    final AtomicInteger closes = new AtomicInteger();
    final AtomicInteger overlaps = new AtomicInteger();
    volatile RuntimeException failure;
    volatile Error error;
    volatile Runnable inside = () -> {};
    private final AtomicInteger within = new AtomicInteger();

    @Override
    public int doWork() {
        if (within.getAndIncrement() != 0) {
            overlaps.incrementAndGet();
        }
        try {
            cycles.incrementAndGet();
            inside.run();
            if (failure != null) {
                throw failure;
            }
            if (error != null) {
                throw error;
            }
            final long open = asked.get() - done.get();
            done.addAndGet(open);
            return (int) open;
        } finally {
            within.decrementAndGet();
        }
    }

    @Override
    public String roleName() {
        return "counting";
    }

    @Override
    public void onStart() {
        starts.incrementAndGet();
    }

    @Override
    public void onClose() {
        closes.incrementAndGet();
    }
}
