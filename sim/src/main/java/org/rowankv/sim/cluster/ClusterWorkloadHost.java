package org.rowankv.sim.cluster;

import java.util.function.LongConsumer;
import org.rowankv.protocol.Status;
import org.rowankv.sim.workload.WorkloadHost;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** What the users' workload sees of a simulated cluster. */
final class ClusterWorkloadHost implements WorkloadHost {
    private final ClusterSimulation simulation;

    ClusterWorkloadHost(ClusterSimulation simulation) {
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
        simulation.deviceFaults().requireRotten("a write says that what it replaced is damaged");
    }

    @Override
    public boolean mayRefuse(Status status) {
        return switch (status) {
            // NO_REPLY is the answer of a read; UNREACHABLE also when not even the session could be opened.
            case FULL, TOO_LARGE, UNREACHABLE, STALE_TERM, NOT_PRIMARY, NO_REPLY, NO_VERSION, SESSION_EXPIRED -> true;
            case CORRUPTED -> {
                simulation.deviceFaults().requireRotten("a user finds an object damaged");
                yield true;
            }
            default -> false;
        };
    }
}
