package org.rowankv.sim;

import java.util.function.LongConsumer;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.sim.workload.WorkloadHost;

/** The simulated store as the host of the clients' workload. */
final class SimWorkloadHost implements WorkloadHost {
    private final Simulation simulation;

    SimWorkloadHost(Simulation simulation) {
        this.simulation = simulation;
    }

    @Override
    public long nowNs() {
        return simulation.timeline().nowNs();
    }

    @Override
    public void tick() {
        simulation.timeline().advance(1);
    }

    @Override
    public LongConsumer counter(String what) {
        return simulation.happenings().counter(what)::add;
    }

    @Override
    public boolean isRead() {
        return simulation.trace().isRead();
    }

    @Override
    public void tell(String words) {
        simulation.trace().tell(words);
    }

    @Override
    public void mix(long value) {
        simulation.trace().mix(value);
    }

    @Override
    public void violation(String what) {
        simulation.violation(what);
    }

    @Override
    public void loss(boolean isWrong, String what) {
        if (isWrong) {
            simulation.violation(what);
        }
        simulation.loss(what);
    }

    @Override
    public int shardOf(int cacheId, byte[] key) {
        final Request request = new Request().get(cacheId, key, 0, key.length);
        simulation.store().place(request);
        return request.shard();
    }

    @Override
    public boolean losesNothing() {
        return simulation.plan().lossPerMille() == 0;
    }

    @Override
    public void requireDamage() {
        simulation.victim().requireRotten("a write reports that the object it replaced is damaged");
    }

    @Override
    public boolean mayRefuse(Status status) {
        return switch (status) {
            // A read may end with NO_REPLY; UNREACHABLE means that not even the session could be opened.
            case FULL, TOO_LARGE, CLOSED, UNREACHABLE, NO_REPLY, NO_VERSION, SESSION_EXPIRED -> true;
            case CORRUPTED -> {
                simulation.victim().requireRotten("a client finds a damaged object");
                yield true;
            }
            default -> false;
        };
    }
}
