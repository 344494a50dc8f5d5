package org.rowankv.sim;

import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.rowankv.sim.workload.WorkloadHost;

/** The run of a seed as the host of a workload: time, trace, counters, violations. */
public abstract class SeedWorkloadHost implements WorkloadHost {
    private final Timeline timeline;
    private final Trace trace;
    private final EventCounters counters;
    private final Consumer<String> violations;

    protected SeedWorkloadHost(Timeline timeline, Trace trace, EventCounters counters, Consumer<String> violations) {
        this.timeline = timeline;
        this.trace = trace;
        this.counters = counters;
        this.violations = violations;
    }

    @Override
    public long nowNs() {
        return timeline.nowNs();
    }

    @Override
    public void tick() {
        timeline.advance(1);
    }

    @Override
    public LongConsumer counter(String what) {
        return counters.counter(what)::add;
    }

    @Override
    public boolean isRead() {
        return trace.isRead();
    }

    @Override
    public void tell(String words) {
        trace.tell(words);
    }

    @Override
    public void mix(long value) {
        trace.mix(value);
    }

    @Override
    public void violation(String what) {
        violations.accept(what);
    }
}
