package org.rowankv.server.cluster;

import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.directory.DataDirectory;
import org.rowankv.topology.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the area of a cluster member, or creates it: at the server's first start, or when its data are lost and the
 * configuration does not count on them. The area must match the stored configuration.
 */
final class AreaOpening {
    private static final Logger LOG = LoggerFactory.getLogger(AreaOpening.class);
    private static final long POLL_MS = 100;

    private final ClusterServer cluster;
    private final ClusterSettings settings;
    private final ClusterContext context;
    private final StoredRoles roles;

    AreaOpening(ClusterServer cluster, StoredRoles roles) {
        this.cluster = cluster;
        this.settings = cluster.settings();
        this.context = cluster.context();
        this.roles = roles;
    }

    Area open(DataDirectory directory) {
        final int serverId = roles.serverId();
        if (!directory.hasArea(serverId)) {
            awaitOthers(directory);
        }
        final AreaSettings areaSettings = new AreaSettings(
                directory.areaFile(serverId),
                settings.capacityBytes(),
                settings.shape().segmentBytes(),
                serverId,
                roles.members().clusterId(),
                settings.shape().shards(),
                settings.shape().durability(),
                settings.shape().servers(),
                settings.shape().replicas());
        final Area area = directory.hasArea(serverId)
                ? directory.openArea(areaSettings, new OpenOverrides(settings.acceptUnclean(), settings.acceptCopied()))
                : directory.createArea(areaSettings, context.random());
        try {
            if (area.superblock().incarnation() == 0) {
                begin(area, directory);
            }
            roles.requireNewest(area, roles.stored().configuration());
            return area;
        } catch (RuntimeException e) {
            area.close();
            throw e;
        }
    }

    /** The area has no data. At a first start it has the replicas of the first configuration. */
    private void begin(Area area, DataDirectory directory) {
        final Configuration present = awaitOthers(directory);
        final int serverId = area.serverId();
        final long known = present.incarnations().get(serverId);
        if (known == 0) {
            beginTenures(area, present);
            return;
        }
        LOG.warn(
                "ROWAN-2019 the data of server '{}' are lost: {} is empty, and receives copies",
                settings.name(),
                directory.path());
        area.superblock().startIncarnation(Math.max(known, roles.registeredIncarnation()));
    }

    /** Waits until the configuration does not count on data of this server; returns it. */
    private Configuration awaitOthers(DataDirectory directory) {
        while (true) {
            final Configuration present = roles.stored().configuration();
            if (!present.countsOn(roles.serverId())) {
                return present;
            }
            cluster.say(waitsForOthers(settings, directory));
            cluster.pause(POLL_MS);
        }
    }

    static String waitsForOthers(ClusterSettings settings, DataDirectory directory) {
        return "the data of server '" + settings.name() + "' are missing in " + directory.path()
                + ", and the cluster counts on them: waiting until the other servers go on without. If the data are"
                + " elsewhere, stop this server, and start it with that directory, or restore it from a backup";
    }

    private static void beginTenures(Area area, Configuration first) {
        for (int shard = 0; shard < first.shardCount(); shard++) {
            if (first.shard(shard).isReplica(area.serverId()) && area.tenures().tenure(shard) == 0) {
                area.tenures().put(shard, first.shard(shard).epoch());
            }
        }
        area.drain();
    }
}
