package org.rowankv.server.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Obtains a new epoch for each shard whose version counter approaches its end, while the shard takes writes. The epoch
 * is stored before its first version is assigned, so no version is ever assigned twice, whatever happens in between.
 *
 * <p>A duty cycle of the server's agents.
 */
final class EpochAgent implements Agent {
    private static final Logger LOG = LoggerFactory.getLogger(EpochAgent.class);

    /** Interval of the checks of the counters. */
    private static final long INTERVAL_NS = 10_000_000;
    /** Interval after an attempt without a result. */
    private static final long RETRY_NS = 1_000_000_000;

    private final int serverId;
    private final CurrentRoles roles;
    private final EpochSupplier epochs;
    private final Clock clock;
    private final ErrorLog errors;
    private long nextNs;

    EpochAgent(int serverId, CurrentRoles roles, EpochSupplier epochs, Clock clock, ErrorLog errors) {
        this.serverId = serverId;
        this.roles = roles;
        this.epochs = epochs;
        this.clock = clock;
        this.errors = errors;
        this.nextNs = clock.nanoTime();
    }

    @Override
    public String roleName() {
        return "epochs";
    }

    @Override
    public int doWork() {
        final long nowNs = clock.nanoTime();
        if (nowNs - nextNs < 0) {
            return 0;
        }
        nextNs = nowNs + INTERVAL_NS;
        final Roles present = roles.get();
        for (ShardPrimary primary : present.primaries()) {
            if (needsEpoch(present, primary)) {
                return renew(present, nowNs);
            }
        }
        return 0;
    }

    /** A shard that leaves goes on with what is left of its epoch: its next primary has another one. */
    private static boolean needsEpoch(Roles present, ShardPrimary primary) {
        return primary.versions().needsEpoch()
                && !present.isLeaving(primary.replica().shardId());
    }

    private int renew(Roles present, long nowNs) {
        final List<ShardPrimary> primaries = present.primaries();
        final List<Integer> shards = new ArrayList<>();
        for (ShardPrimary primary : primaries) {
            if (needsEpoch(present, primary)) {
                shards.add(primary.replica().shardId());
            }
        }
        nextNs = nowNs + RETRY_NS;
        final @Nullable Configuration stored;
        try {
            stored = epochs.renew(shards);
        } catch (RuntimeException e) {
            errors.report("server " + serverId + ": a new epoch for the versions of shards " + shards, e);
            primaries.forEach(primary -> failed(primary.versions()));
            return 1;
        }
        if (stored == null) {
            return 0;
        }
        nextNs = nowNs;
        for (ShardPrimary primary : primaries) {
            final int shard = primary.replica().shardId();
            if (shards.contains(shard)) {
                primary.versions().renew(stored.shard(shard).epoch());
            }
        }
        LOG.info("new epochs: server={} shards={} term={}", serverId, shards, stored.term());
        return 1;
    }

    private static void failed(VersionCounter versions) {
        if (versions.needsEpoch()) {
            versions.failed();
        }
    }
}
