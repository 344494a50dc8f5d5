package org.rowankv.sim.cluster;

import java.util.Arrays;
import org.rowankv.topology.Configuration;

/**
 * Checks which servers serve a shard in each term. Invariants: no two servers serve a shard in one term; no server
 * serves it in a former term; and none serves before every server of the term has taken over its missing entries, and
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
        terms[server] = configuration.term();
        for (int other = 0; other < completeTerm.length; other++) {
            if (completeTerm[other] < configuration.term()) {
                simulation.violation("server " + process + " serves in term " + configuration.term() + ", and server "
                        + other + " has not yet taken over what it lacked in it, but in term " + completeTerm[other]);
            }
        }
        for (int shard = 0; shard < servedTerm.length; shard++) {
            if (configuration.shard(shard).primary() != server) {
                continue;
            }
            for (SimHost other : simulation.hosts()) {
                final SimProcess running = other.process();
                final SimProcess.Door door = running == null || running == process ? null : running.door();
                if (door != null
                        && door.configuration().shard(shard).primary() == other.number()
                        && door.server().isServing()) {
                    simulation.violation("servers " + process + " and " + running + " both serve shard " + shard
                            + ", in terms " + configuration.term() + " and "
                            + door.configuration().term());
                }
            }
            if (configuration.term() < servedTerm[shard]) {
                simulation.violation("server " + process + " serves shard " + shard + " in term "
                        + configuration.term() + " after term " + servedTerm[shard] + " has begun: "
                        + Arrays.toString(servedTerm));
            }
            servedTerm[shard] = configuration.term();
        }
    }

    /** A client got a reply. */
    void answered(SimProcess process, int shard, long term) {
        if (term < servedTerm[shard]) {
            simulation.violation("server " + process + " answered for shard " + shard + " in term " + term
                    + " when it was served in term " + servedTerm[shard]);
        }
    }
}
