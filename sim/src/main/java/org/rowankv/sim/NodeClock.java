package org.rowankv.sim;

import org.rowankv.runtime.Clock;
import org.rowankv.sim.workload.LifetimeChecker;

/** One node's clock: the simulation's time with a small drift, from its own origin. */
public final class NodeClock implements Clock {
    private static final long BASE_WALL_MS = 1_700_000_000_000L;

    private final Timeline timeline;
    private final long driftPerMillion;
    private final long originNs;
    private long wallOffsetMs;

    public NodeClock(Timeline timeline, long driftPerMillion, long originNs, long wallOffsetMs) {
        this.timeline = timeline;
        this.driftPerMillion = driftPerMillion;
        this.originNs = originNs;
        this.wallOffsetMs = wallOffsetMs;
    }

    private long elapsedNs() {
        final long now = timeline.nowNs();
        return now + now / 1_000_000 * driftPerMillion;
    }

    /** Sets the wall clock: lifetimes end that much earlier or later, and their checker allows for it. */
    public void jump(long ms, LifetimeChecker lifetimes) {
        wallOffsetMs += ms;
        lifetimes.jumped(timeline.nowNs(), ms);
    }

    @Override
    public long nanoTime() {
        return originNs + elapsedNs();
    }

    @Override
    public long wallMs() {
        return BASE_WALL_MS + wallOffsetMs + elapsedNs() / 1_000_000;
    }
}
