package org.rowankv.sim.embedded;

import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.LossError;
import org.rowankv.sim.state.ReplicaRead;
import org.rowankv.topology.ShardAssignment;

/**
 * Checks that flipped bits are found, and repaired from a replica or reported. An object may be unavailable, with an
 * error that reports damage, while its entry waits for repair. It must not be absent or stale while another complete
 * replica has it: so unreadable objects are looked up there.
 */
final class DamageChecker {
    private static final int ROUNDS = 2;
    private static final int MOST_PARKS = 20_000;

    private final EmbeddedSimulation simulation;

    DamageChecker(EmbeddedSimulation simulation) {
        this.simulation = simulation;
    }

    /** Waits until the scrubber of the damaged server has read all committed segments, and has repaired what it can. */
    void awaitMended() {
        if (!simulation.victim().isRotten()) {
            return;
        }
        final Server server =
                simulation.store().cluster().servers().get(simulation.victim().number());
        final long enough = server.statistics().scrubRounds() + ROUNDS;
        for (int parks = 0; server.statistics().scrubRounds() < enough; parks++) {
            if (parks == MOST_PARKS) {
                simulation.violation("the scrubber of server " + server.serverId() + " makes no progress");
            }
            simulation.stops().requireServing();
            server.wakeUp();
            simulation.scheduler().park(2_000_000);
        }
        simulation
                .eventCounters()
                .add("damaged entries replaced", server.segments().damage().replacedEntries());
    }

    /**
     * A read was answered with CORRUPTED. After the scrubber has passed, the object is readable, unless its segment is
     * not scrubbed yet. Otherwise another replica has the object, or has none, as where the entry of a deletion is
     * damaged. The history of the key shows whether that is correct.
     */
    void mend(Request request) {
        simulation.requireRotten("a read during a pause finds a damaged object");
        awaitMended();
        simulation.session().call(request);
        if (request.status() != Status.CORRUPTED) {
            simulation.eventCounters().count("objects that could be read again");
            return;
        }
        if (simulation.victim().isLone()) {
            throw new LossError("an object cannot be read any more");
        }
        if (!hasWholeReplica(request)) {
            simulation.violation("an object cannot be read, and there is no other whole replica");
        }
        answerElsewhere(request);
        simulation.eventCounters().count("objects that stay unavailable, and that another replica has");
    }

    /** Answers a read from some complete replica that is not the victim's: with its object, or with none. */
    void answerElsewhere(Request request) {
        request.clearAnswer();
        if (!isFoundElsewhere(request)) {
            request.answer(Status.NOT_FOUND, 0, 0, 0);
        }
    }

    private boolean hasWholeReplica(Request request) {
        final ShardAssignment assignment =
                simulation.store().cluster().configuration().shard(request.shard());
        for (int server = 0; server < simulation.plan().servers(); server++) {
            if (isWholeReplica(assignment, server)) {
                return true;
            }
        }
        return false;
    }

    private boolean isWholeReplica(ShardAssignment assignment, int server) {
        return server != simulation.victim().number() && assignment.isReplica(server) && !assignment.isJoining(server);
    }

    private boolean isFoundElsewhere(Request request) {
        final ShardAssignment assignment =
                simulation.store().cluster().configuration().shard(request.shard());
        // The primary's clock ended the lifetime; the others' clocks may be years apart.
        final long nowMs = simulation.store().clock(assignment.primary()).wallMs();
        for (int server = 0; server < simulation.plan().servers(); server++) {
            if (isWholeReplica(assignment, server)
                    && ReplicaRead.answer(
                            request, simulation.store().cluster().servers().get(server), nowMs)) {
                return true;
            }
        }
        return false;
    }
}
