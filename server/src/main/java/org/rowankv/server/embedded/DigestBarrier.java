package org.rowankv.server.embedded;

import java.util.List;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.dispatch.WaitLimit;
import org.rowankv.server.engine.Server;

/** Waits until what has landed in the servers' backup logs has taken effect. For any thread. */
final class DigestBarrier {
    private static final long PARK_NS = 20_000;

    private final List<Server> servers;
    private final Clock clock;
    private final Scheduling scheduling;
    private final long deadlineMs;

    /** @param deadlineMs of each round of waiting */
    DigestBarrier(List<Server> servers, Clock clock, Scheduling scheduling, long deadlineMs) {
        this.servers = servers;
        this.clock = clock;
        this.scheduling = scheduling;
        this.deadlineMs = deadlineMs;
    }

    /** @throws RowanException OUTCOME_UNKNOWN if a round did not end by its deadline */
    void await() {
        if (!isOverInTime()) {
            throw new RowanException(
                    Status.OUTCOME_UNKNOWN,
                    "what landed in the backup logs was not digested within " + deadlineMs + " ms");
        }
    }

    /** Each round ends by the deadline; a further round begins only if objects were ended, of which there are finitely many. */
    boolean isOverInTime() {
        long ended;
        do {
            ended = endedObjects();
            if (!isRoundOverInTime()) {
                return false;
            }
            // The end of what was evicted or expired meanwhile may have landed behind what this round has digested.
        } while (endedObjects() != ended || servers.stream().anyMatch(Server::isEndingObjects));
        return true;
    }

    private long endedObjects() {
        long ended = 0;
        for (Server server : servers) {
            ended += server.endedObjects();
        }
        return ended;
    }

    private boolean isRoundOverInTime() {
        final WaitLimit limit = new WaitLimit(clock, deadlineMs * 1_000_000);
        for (Server server : servers) {
            // Two more: the first may have begun before what the caller cares for had landed.
            final long enough = server.digestedTurns() + 2;
            while (server.digestedTurns() < enough && !server.isStopped()) {
                if (limit.isOver()) {
                    return false;
                }
                server.wakeUp();
                scheduling.park(PARK_NS);
            }
        }
        return true;
    }
}
