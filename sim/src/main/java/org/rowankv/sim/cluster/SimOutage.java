package org.rowankv.sim.cluster;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.rowankv.protocol.Request;
import org.rowankv.sim.SimPlan;
import org.rowankv.sim.workload.WorkloadBias;
import org.rowankv.sim.workload.WorkloadCaches;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * One fault in a calm cluster, and the time for which each shard completes no operation meanwhile. Where a simulated
 * second is that of a machine whose costs the plan states, so is the outage.
 */
final class SimOutage {
    /** The fault; the first is none, to compare with. */
    enum Fault {
        CONTROL(false),
        KILL(false),
        KILL_MANAGER(true),
        PAUSE(false),
        PAUSE_MANAGER(true),
        /** Nothing that it sends reaches the other servers. */
        MUTE(false),
        MUTE_MANAGER(true),
        /** Nothing of the other servers reaches it. */
        DEAF(false),
        DEAF_MANAGER(true);

        private final boolean ofManager;

        Fault(boolean ofManager) {
            this.ofManager = ofManager;
        }
    }

    /** What the server that was hit was to a shard. */
    enum Role {
        PRIMARY,
        BACKUP,
        NOTHING
    }

    /** Keeps a client's requests on one shard: it waits for no other one. */
    private record OfOneShard(WorkloadCaches caches, int keys, int shard) implements WorkloadBias {
        @Override
        public boolean isUsual() {
            return false;
        }

        @Override
        public int key(int drawn) {
            return IntStream.range(0, keys)
                    .map(i -> (drawn + i) % keys)
                    .filter(key -> caches.shardOf(key) == shard)
                    .findFirst()
                    .orElse(drawn);
        }
    }

    private static final long CALM_NS = 300_000_000;
    private static final long AWAY_NS = 1_500_000_000;
    /** Longer than an election and an exclusion. */
    private static final int LEASES = 5;
    /** Within it each shard completes operations when nothing is wrong. */
    private static final long LIVELY_NS = 100_000_000;

    private static final long LIMIT_NS = 30_000_000_000L;

    private final Fault fault;
    private final int drawn;
    private List<Role> roles = List.of();
    private long[] lastNs = {};
    private long[] gapsNs = {};

    /** @param drawn the choice among the servers that are not the manager */
    SimOutage(Fault fault, int drawn) {
        this.fault = fault;
        this.drawn = drawn;
    }

    /** What the requests of a client are to be about. */
    static WorkloadBias biasOf(int client, ClusterSimulation simulation) {
        final SimPlan plan = simulation.plan();
        return new OfOneShard(simulation.workload().caches(), plan.keys(), client % plan.shards());
    }

    /** Strikes after a while, and returns when all shards complete operations again. */
    void measure(ClusterSimulation simulation) {
        do {
            run(simulation, CALM_NS);
        } while (!simulation.served().hasManager());
        final Configuration before = simulation.served();
        final SimHost victim = simulation.hosts().get(victim(before));
        roles = before.shards().stream()
                .map(shard -> roleOf(shard, victim.number()))
                .toList();
        gapsNs = new long[roles.size()];
        lastNs = new long[roles.size()];
        Arrays.fill(lastNs, simulation.timeline().nowNs());
        run(simulation, LIVELY_NS);
        Arrays.fill(gapsNs, 0);
        final long struckNs = simulation.timeline().nowNs();
        strike(
                simulation,
                victim,
                struckNs + 2 * LEASES * 1_000_000L * simulation.clusterPlan().leaseMs() + AWAY_NS);
        final long notBeforeNs =
                struckNs + LEASES * 1_000_000L * simulation.clusterPlan().leaseMs() + LIVELY_NS;
        while (!isLively(simulation.timeline().nowNs(), notBeforeNs)) {
            simulation.scheduler().step();
            if (simulation.timeline().nowNs() - struckNs > LIMIT_NS) {
                simulation.violation("shards complete no operation after " + fault + " of " + victim);
            }
        }
    }

    private static void run(ClusterSimulation simulation, long ns) {
        final long untilNs = simulation.timeline().nowNs() + ns;
        while (simulation.timeline().nowNs() < untilNs) {
            simulation.scheduler().step();
        }
    }

    private int victim(Configuration configuration) {
        final int servers = configuration.serverCount();
        return fault.ofManager
                ? configuration.manager()
                : (configuration.manager() + 1 + drawn % (servers - 1)) % servers;
    }

    private void strike(ClusterSimulation simulation, SimHost victim, long untilNs) {
        final SimProcess process = victim.process();
        switch (fault) {
            case CONTROL -> {}
            case KILL, KILL_MANAGER -> {
                victim.kill(false);
                simulation.scheduler().at(untilNs, victim::start);
            }
            case MUTE, MUTE_MANAGER, DEAF, DEAF_MANAGER -> {
                final boolean isMute = fault == Fault.MUTE || fault == Fault.MUTE_MANAGER;
                for (int server = 0; server < simulation.plan().servers(); server++) {
                    if (server != victim.number()) {
                        final int from = isMute ? victim.number() : server;
                        simulation.wire().cut(from, isMute ? server : victim.number(), untilNs);
                    }
                }
            }
            default -> {
                if (process == null) {
                    throw new AssertionError(victim + " does not run");
                }
                process.pause(untilNs);
            }
        }
    }

    private Role roleOf(ShardAssignment shard, int server) {
        return fault == Fault.CONTROL
                ? Role.NOTHING
                : shard.primary() == server ? Role.PRIMARY : shard.isReplica(server) ? Role.BACKUP : Role.NOTHING;
    }

    private boolean isLively(long nowNs, long notBeforeNs) {
        return nowNs > notBeforeNs && Arrays.stream(lastNs).allMatch(last -> nowNs - last < LIVELY_NS);
    }

    /** A client has the answer. */
    void completed(Request request, long nowNs) {
        final int shard = request.shard();
        final boolean isAnswered = switch (request.status()) {
            case NO_REPLY, OUTCOME_UNKNOWN, UNREACHABLE, NOT_PRIMARY, STALE_TERM -> false;
            default -> true;
        };
        if (!isAnswered || shard < 0 || shard >= lastNs.length) {
            return;
        }
        gapsNs[shard] = Math.max(gapsNs[shard], nowNs - lastNs[shard]);
        lastNs[shard] = nowNs;
    }

    Fault fault() {
        return fault;
    }

    /** Of each shard. */
    List<Role> roles() {
        return roles;
    }

    /** The longest time without an operation of a shard, from shortly before the fault on, in ns. */
    long gapNs(int shard) {
        return gapsNs[shard];
    }
}
