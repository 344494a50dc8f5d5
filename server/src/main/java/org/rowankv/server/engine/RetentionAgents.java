package org.rowankv.server.engine;

import org.rowankv.server.retention.EvictionAgent;
import org.rowankv.server.retention.ExpirySweepAgent;
import org.rowankv.server.retention.SessionLeaseAgent;

/** The agents of a server that end objects and sessions without being asked to. Their states are for any thread. */
record RetentionAgents(ExpirySweepAgent expirySweep, EvictionAgent eviction, SessionLeaseAgent sessionLeases) {
    /** Whether a cache is being brought below its limit, or what has expired is being ended. */
    boolean areEndingObjects() {
        return eviction.isAtWork() || !expirySweep.isIdle();
    }

    boolean areAtWork() {
        return areEndingObjects() || !sessionLeases.isIdle();
    }

    /** They begin nothing any more; what they have under way ends in their next turns. */
    void close() {
        expirySweep.close();
        eviction.close();
        sessionLeases.close();
    }
}
