package org.rowankv.sim.embedded;

import org.rowankv.sim.SeedWorkloadHost;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/** The simulated store as the host of the clients' workload. */
final class SimWorkloadHost extends SeedWorkloadHost {
    private final Simulation simulation;

    SimWorkloadHost(Simulation simulation) {
        super(simulation);
        this.simulation = simulation;
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
            case FULL, TOO_LARGE, CLOSED, UNREACHABLE, NOT_PRIMARY, NO_REPLY, NO_VERSION, SESSION_EXPIRED -> true;
            case CORRUPTED -> {
                simulation.victim().requireRotten("a client finds a damaged object");
                yield true;
            }
            default -> false;
        };
    }
}
