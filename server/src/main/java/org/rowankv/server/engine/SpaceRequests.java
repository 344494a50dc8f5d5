package org.rowankv.server.engine;

import org.rowankv.server.cleaning.CleanAgent;
import org.rowankv.server.dispatch.ServerAgents;
import org.rowankv.server.dispatch.ServingState;
import org.rowankv.server.dispatch.WorkerPool;
import org.rowankv.server.retention.RetentionWorker;

/** What callers that lack space request of one server: each call frees some that is not needed. Thread-safe. */
public final class SpaceRequests {
    private final WorkerPool pool;
    private final RetentionWorker retention;
    private final RetentionAgents ending;
    private final CleanAgent cleaner;
    private final ServerAgents agents;
    private final ServingState serving;

    SpaceRequests(
            WorkerPool pool,
            RetentionWorker retention,
            RetentionAgents ending,
            CleanAgent cleaner,
            ServerAgents agents,
            ServingState serving) {
        this.pool = pool;
        this.retention = retention;
        this.ending = ending;
        this.cleaner = cleaner;
        this.agents = agents;
        this.serving = serving;
    }

    /**
     * Completes what dead callers have left, and releases unused grants of idle workers, here and at the backups; false
     * while any worker is not idle. The agents' own worker follows in its next cycle.
     */
    public boolean releaseGrants() {
        retention.requestRelease();
        agents.wakeUp();
        return pool.releaseGrants();
    }

    /** Requests that the cleaner frees space. */
    public void requestSpace() {
        cleaner.requestSpace();
        agents.wakeUp();
    }

    /** Ends expired objects, and removes parts of ended values. */
    public void endExpired() {
        final boolean areParts = ending.parts().requestPass();
        if (ending.expirySweep().requestPass() || areParts) {
            agents.wakeUp();
        }
    }

    /** Whether a request for that, made at the given time of the interval clock, is still in progress. */
    public boolean isExpiring(long sinceNs) {
        final boolean isStopped = agents.isClosed() || serving.hasFailed();
        return (ending.expirySweep().isAwaited(sinceNs) || ending.parts().isAwaited()) && !isStopped;
    }
}
