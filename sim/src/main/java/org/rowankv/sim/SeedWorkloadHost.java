package org.rowankv.sim;

import java.util.function.LongConsumer;
import org.rowankv.sim.workload.WorkloadHost;

/** The run of a seed as the host of a workload: time, trace, counters, violations. */
public abstract class SeedWorkloadHost implements WorkloadHost {
    private final SeedRun run;

    protected SeedWorkloadHost(SeedRun run) {
        this.run = run;
    }

    @Override
    public long nowNs() {
        return run.timeline().nowNs();
    }

    @Override
    public void tick() {
        run.timeline().advance(1);
    }

    @Override
    public LongConsumer counter(String what) {
        return run.eventCounters().counter(what)::add;
    }

    @Override
    public boolean isRead() {
        return run.trace().isRead();
    }

    @Override
    public void tell(String words) {
        run.trace().tell(words);
    }

    @Override
    public void mix(long value) {
        run.trace().mix(value);
    }

    @Override
    public void violation(String what) {
        run.violation(what);
    }
}
