package org.rowankv.server.engine;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.log.Segments;
import org.rowankv.server.retention.EvictionAgent;
import org.rowankv.server.retention.ExpirySweepAgent;
import org.rowankv.server.retention.PartsAgent;
import org.rowankv.server.retention.RetentionWorker;
import org.rowankv.server.retention.SessionLeaseAgent;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.LimitedCaches;

/**
 * The agents of a server that end objects and sessions on their own: expiry, eviction, parts of ended values, session
 * leases. Their states are thread-safe.
 */
public record RetentionAgents(
        ExpirySweepAgent expirySweep, EvictionAgent eviction, PartsAgent parts, SessionLeaseAgent sessionLeases) {
    static RetentionAgents of(
            ServerContext context,
            CurrentRoles roles,
            LimitedCaches limits,
            RetentionWorker worker,
            BooleanSupplier isSwept,
            LongSupplier quietCycles) {
        final Segments segments = context.segments();
        final Clock clock = context.clock();
        final long leaseNs = context.settings().sessionLeaseNs();
        final PartsAgent parted = new PartsAgent(roles, worker, segments, clock, leaseNs, limits::isAnyCheckRequested);
        return new RetentionAgents(
                new ExpirySweepAgent(roles, worker, segments, clock),
                new EvictionAgent(
                        roles,
                        limits,
                        worker,
                        segments,
                        clock,
                        () -> isSwept.getAsBoolean() && parted.isDone(),
                        quietCycles),
                parted,
                new SessionLeaseAgent(roles, worker, clock, leaseNs));
    }

    /** In the order of the duty cycle. */
    List<Agent> inOrder() {
        return List.of(expirySweep, parts, eviction, sessionLeases);
    }

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
