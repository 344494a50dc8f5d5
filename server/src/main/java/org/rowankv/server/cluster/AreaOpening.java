package org.rowankv.server.cluster;

import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.directory.DataDirectory;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.membership.ClusterNodes;
import org.rowankv.topology.Configuration;

/**
 * Opens the area of a cluster member, or creates it at its first start. The area must match the stored configuration.
 */
final class AreaOpening {
    private final ClusterSettings settings;
    private final ClusterContext context;
    private final StoredRoles roles;

    AreaOpening(ClusterSettings settings, ClusterContext context, StoredRoles roles) {
        this.settings = settings;
        this.context = context;
        this.roles = roles;
    }

    Area open(DataDirectory directory) {
        final int serverId = roles.serverId();
        final ClusterNodes.Stored stored = roles.stored();
        final long known = stored.configuration().incarnations().get(serverId);
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
        if (!directory.hasArea(serverId) && known > 0) {
            throw new ClusterException("the data of server '" + settings.name() + "' are missing in " + directory.path()
                    + ": it has been started " + known
                    + " times before. Use its previous directory, or restore that from a"
                    + " backup");
        }
        final Area area = directory.hasArea(serverId)
                ? directory.openArea(areaSettings, new OpenOverrides(settings.acceptUnclean(), settings.acceptCopied()))
                : directory.createArea(areaSettings, context.random());
        try {
            roles.requireNewest(area, stored.configuration());
            if (known == 0 && area.superblock().incarnation() == 0) {
                beginTenures(area, stored.configuration());
            }
            return area;
        } catch (RuntimeException e) {
            area.close();
            throw e;
        }
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
