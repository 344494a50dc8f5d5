package org.rowankv.sim.cluster;

import org.rowankv.protocol.Status;
import org.rowankv.sim.SeedWorkloadHost;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** The simulated cluster as the host of the clients' workload. */
final class ClusterWorkloadHost extends SeedWorkloadHost {
    private final ClusterSimulation simulation;

    ClusterWorkloadHost(ClusterSimulation simulation) {
        super(simulation);
        this.simulation = simulation;
    }

    @Override
    public void loss(boolean isWrong, String what) {
        simulation.deviceFaults().requireNoLoss(isWrong, what);
    }

    @Override
    public int shardOf(int cacheId, byte[] key) {
        final Configuration configuration = simulation.served();
        return ShardMap.shardOf(
                new KeyHash(configuration.hashSeed()).hash(cacheId, key, 0, key.length), configuration.shardCount());
    }

    @Override
    public boolean losesNothing() {
        return simulation.plan().lossPerMille() == 0;
    }

    @Override
    public void requireDamage() {
        simulation.deviceFaults().requireRotten("a write reports that the object it replaced is damaged");
    }

    @Override
    public boolean mayRefuse(Status status) {
        return switch (status) {
            // A read may end with NO_REPLY; UNREACHABLE includes that not even the session could be opened.
            case FULL, TOO_LARGE, UNREACHABLE, STALE_TERM, NOT_PRIMARY, NO_REPLY, NO_VERSION, SESSION_EXPIRED -> true;
            case CORRUPTED -> {
                simulation.deviceFaults().requireRotten("a client finds a damaged object");
                yield true;
            }
            default -> false;
        };
    }
}
