package org.rowankv.sim;

import java.util.function.LongConsumer;
import org.rowankv.protocol.Status;
import org.rowankv.sim.workload.WorkloadHost;

/** The run of a seed as the host of a workload. */
public final class SeedWorkloadHost implements WorkloadHost {
    private final SeedRun run;
    private final Status ofForm;

    /** @param ofForm a refusal that clients meet in this form only */
    public SeedWorkloadHost(SeedRun run, Status ofForm) {
        this.run = run;
        this.ofForm = ofForm;
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

    @Override
    public void loss(boolean isWrong, String what) {
        run.loss(isWrong, what);
    }

    @Override
    public int shardOf(int cacheId, byte[] key) {
        return run.shardOf(run.hashOf(cacheId, key, 0, key.length));
    }

    @Override
    public boolean losesNothing() {
        return run.plan().lossPerMille() == 0;
    }

    @Override
    public void requireDamage() {
        run.requireRotten("a write reports that the object it replaced is damaged");
    }

    @Override
    public boolean mayRefuse(Status status) {
        return switch (status) {
            // A read may end with NO_REPLY; UNREACHABLE includes that not even the session could be opened.
            case FULL, TOO_LARGE, UNREACHABLE, NOT_PRIMARY, NO_REPLY, NO_VERSION, SESSION_EXPIRED -> true;
            case CORRUPTED -> {
                run.requireRotten("a client finds a damaged object");
                yield true;
            }
            default -> status == ofForm;
        };
    }
}
