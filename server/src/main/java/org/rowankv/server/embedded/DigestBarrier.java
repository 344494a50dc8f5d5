package org.rowankv.server.embedded;

import java.util.List;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.dispatch.WaitLimit;
import org.rowankv.server.engine.Server;

/** Waits until all entries landed in the servers' backup logs are digested. Thread-safe. */
final class DigestBarrier {
    private static final long PARK_NS = 20_000;

    private final List<Server> servers;
    private final Clock clock;
    private final Scheduling scheduling;
    private final long deadlineMs;

    /** @param deadlineMs of each pass */
    DigestBarrier(List<Server> servers, Clock clock, Scheduling scheduling, long deadlineMs) {
        this.servers = servers;
        this.clock = clock;
        this.scheduling = scheduling;
        this.deadlineMs = deadlineMs;
    }

    /** @throws RowanException OUTCOME_UNKNOWN if a pass did not end by its deadline */
    void await() {
        if (!isOverInTime()) {
            throw new RowanException(
                    Status.OUTCOME_UNKNOWN, "the backup logs were not digested within " + deadlineMs + " ms");
        }
    }

    /**
     * Each pass ends by the deadline. Another pass starts only if objects were ended, of which there are finitely many.
     */
    boolean isOverInTime() {
        long ended;
        do {
            ended = endedObjects();
            if (!isPassOverInTime()) {
                return false;
            }
            // Ends of objects evicted or expired meanwhile may have landed after this pass.
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

    private boolean isPassOverInTime() {
        final WaitLimit limit = new WaitLimit(clock, deadlineMs * 1_000_000);
        for (Server server : servers) {
            // Two more: the first cycle may have begun before the caller's entries landed.
            final long enough = server.digestCycles() + 2;
            while (server.digestCycles() < enough && !server.isStopped()) {
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
