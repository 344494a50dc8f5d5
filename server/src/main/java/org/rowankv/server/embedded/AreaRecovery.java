package org.rowankv.server.embedded;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.UnusableAreaException;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.log.Segments;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;

/** Reads the areas of a store that is being opened. Owned by the opening thread. */
final class AreaRecovery {
    private final EmbeddedSettings settings;
    private final StoreFiles files;
    private final EmbeddedContext context;
    private final Checkpoints checkpoints;

    AreaRecovery(EmbeddedSettings settings, StoreFiles files, EmbeddedContext context, Checkpoints checkpoints) {
        this.settings = settings;
        this.files = files;
        this.context = context;
        this.checkpoints = checkpoints;
    }

    /** Settings of every server. */
    ServerSettings serverSettings() {
        final int segmentCount =
                (int) (settings.capacityBytes() / settings.shape().segmentBytes());
        return ServerSettings.of(
                segmentCount, settings.workers(), settings.shape().replicas() > 1, with -> {
                    with.verifyReads = settings.verifyReads();
                    with.scrubBytesPerSecond = (long) settings.scrubMibPerSecond() << 20;
                    context.tuning().accept(with);
                });
    }

    /**
     * Reads every area according to a configuration that is not stored yet. Removes nothing from the areas.
     *
     * @param errors receives reports of damage
     * @throws UnusableAreaException if replicas are incomplete; by then all areas are read, and each incomplete one is
     * marked, so that the next attempt considers all of them
     */
    List<RecoveredServer> recover(Configuration found, Clock clock, RandomSource random, ErrorLog errors) {
        final KeyHash keyHash = new KeyHash(found.hashSeed());
        final ServerSettings serverSettings = serverSettings();
        final List<RecoveredServer> recovered = new ArrayList<>();
        UnusableAreaException incomplete = null;
        for (Area area : files.areas()) {
            final Segments segments = new Segments(
                    area,
                    random.fork("segments-" + area.serverId()),
                    serverSettings.cleanerReserve(),
                    serverSettings.spaceLimit(area.segmentCount(), area.segmentLength(), found.mostReplicas()),
                    serverSettings.counters());
            final @Nullable ShardReplica[] replicas = new @Nullable ShardReplica[found.shardCount()];
            for (int shard = 0; shard < replicas.length; shard++) {
                if (found.shard(shard).isReplica(area.serverId())) {
                    replicas[shard] =
                            new ShardReplica(shard, found.shardCount(), keyHash, segments, tenure(found, shard, area));
                    if (found.shard(shard).isJoining(area.serverId())) {
                        replicas[shard].beginJoining();
                    }
                }
            }
            final RecoveredServer server = new RecoveredServer(
                    area.serverId(),
                    segments,
                    new Replicas(replicas),
                    settings.shape().replicas() > 1,
                    errors);
            try {
                checkpoints.recover(server, found, clock);
            } catch (UnusableAreaException e) {
                if (incomplete == null) {
                    incomplete = e;
                } else {
                    incomplete.addSuppressed(e);
                }
            }
            recovered.add(server);
        }
        if (incomplete != null) {
            throw incomplete;
        }
        return recovered;
    }

    /** A joining replica begins its tenure with the configuration; its area records it after that is stored. */
    private static int tenure(Configuration found, int shard, Area area) {
        return found.shard(shard).isJoining(area.serverId())
                ? found.shard(shard).epoch()
                : area.tenures().tenure(shard);
    }
}
