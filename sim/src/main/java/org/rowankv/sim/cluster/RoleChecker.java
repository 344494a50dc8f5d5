package org.rowankv.sim.cluster;

import java.util.Arrays;
import org.rowankv.topology.Configuration;

/**
 * Checks which servers serve a shard in each term. Invariants: when a server begins to serve a shard, no other one may
 * answer for it; and after a common start none serves before every member has taken over its missing entries, and
 * forced them. What a client may read is on all replicas.
 */
final class RoleChecker {
    private final ClusterSimulation simulation;
    /** By shard: the highest term in which a server has begun to serve it. */
    private final long[] servedTerm;
    /** By server. */
    private final long[] terms;
    /** By server: the last term for which it has taken over everything. */
    private final long[] completeTerm;

    RoleChecker(ClusterSimulation simulation) {
        this.simulation = simulation;
        this.servedTerm = new long[simulation.plan().shards()];
        this.terms = new long[simulation.plan().servers()];
        this.completeTerm = new long[simulation.plan().servers()];
    }

    /** A server holds everything that its roles in a term require. */
    void completed(SimProcess process, Configuration configuration) {
        completeTerm[process.host().number()] = configuration.term();
    }

    /** A server admits clients. */
    void serves(SimProcess process, Configuration configuration) {
        final int server = process.host().number();
        if (configuration.term() <= terms[server]) {
            simulation.violation(
                    "server " + process + " serves in term " + configuration.term() + " after term " + terms[server]);
        }
        if (configuration.startTerm() == configuration.term()) {
            for (int other : configuration.members()) {
                if (completeTerm[other] < configuration.term()) {
                    simulation.violation("server " + process + " serves in term " + configuration.term()
                            + ", and server " + other + " has not yet taken over what it lacked in it, but in term "
                            + completeTerm[other]);
                }
            }
        }
        follows(process, configuration);
    }

    /**
     * The roles of a configuration are in force at a server. One that hears of them late, when others follow a later one,
     * serves nothing by them as long as it may not answer.
     */
    void follows(SimProcess process, Configuration configuration) {
        terms[process.host().number()] = configuration.term();
        requireOnePrimary(process, configuration);
    }

    /** It has opened shards. */
    void opened(SimProcess process) {
        final SimProcess.Door door = process.door();
        if (door != null) {
            requireOnePrimary(process, door.configuration());
        }
    }

    /** By what the servers have open: one that hands a shard over is its primary for a while, and the next one not yet. */
    private void requireOnePrimary(SimProcess process, Configuration configuration) {
        for (int shard = 0; shard < servedTerm.length; shard++) {
            final SimProcess.Door own = process.door();
            if (own == null || !own.server().isPrimary(shard)) {
                continue;
            }
            for (SimHost other : simulation.hosts()) {
                final SimProcess running = other.process();
                final SimProcess.Door door = running == null || running == process ? null : running.door();
                if (running != null
                        && door != null
                        && door.server().isPrimary(shard)
                        && door.server().isServing()
                        && running.mayAnswer()
                        && (configuration.term() >= door.configuration().term() || process.mayAnswer())) {
                    simulation.violation("servers " + process + " and " + running + " both serve shard " + shard
                            + ", in terms " + configuration.term() + " and "
                            + door.configuration().term());
                }
            }
            if (configuration.term() < servedTerm[shard] && process.mayAnswer()) {
                simulation.violation("server " + process + " serves shard " + shard + " in term "
                        + configuration.term() + " after term " + servedTerm[shard] + " has begun: "
                        + Arrays.toString(servedTerm));
            }
            // One that is still handing the shard over in a later configuration has not begun to serve it there.
            if (configuration.shard(shard).primary() == process.host().number()) {
                servedTerm[shard] = Math.max(servedTerm[shard], configuration.term());
            }
        }
    }
}
