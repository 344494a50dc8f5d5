package org.rowankv.server.engine;

import org.rowankv.server.retention.EvictionAgent;
import org.rowankv.server.retention.ExpirySweepAgent;
import org.rowankv.server.retention.PartsAgent;
import org.rowankv.server.retention.SessionLeaseAgent;

/**
 * The agents of a server that end objects and sessions on their own: expiry, eviction, parts of ended values, session
 * leases. Their states are thread-safe.
 */
record RetentionAgents(
        ExpirySweepAgent expirySweep, EvictionAgent eviction, PartsAgent parts, SessionLeaseAgent sessionLeases) {
    /** Whether a cache is above its limit, or expired objects are being ended. */
    boolean areEndingObjects() {
        return eviction.isAtWork() || !expirySweep.isIdle();
    }

    boolean areAtWork() {
        return areEndingObjects() || !parts.isIdle() || !sessionLeases.isIdle();
    }

    /** They start nothing more; their work in progress ends in the next cycles. */
    void close() {
        expirySweep.close();
        eviction.close();
        parts.close();
        sessionLeases.close();
    }
}
