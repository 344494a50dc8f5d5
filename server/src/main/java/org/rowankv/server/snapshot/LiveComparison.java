package org.rowankv.server.snapshot;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.rowankv.server.engine.Server;
import org.rowankv.server.inspect.CutContents;
import org.rowankv.server.inspect.LiveReplicaReport;
import org.rowankv.server.inspect.ReplicaReport.Digest;
import org.rowankv.server.inspect.ReplicaReport.ShardDigests;
import org.rowankv.server.log.CutReader;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardAssignment;

/**
 * A comparison of a running store's replicas by the content of their logs as of a {@link ConsistentCut}: for each shard one
 * digest of each in-sync replica. For one internal thread.
 */
public final class LiveComparison {
    /** Objects with digests in memory at once, some tens of megabytes; the logs are read once per so many. */
    private static final long OBJECTS_AT_ONCE = 1 << 20;

    private final ConsistentCut cut;
    private final List<Server> servers;
    private final Configuration configuration;
    private final Digest[][] digests;
    private final Set<String> damages = new LinkedHashSet<>();

    private LiveComparison(ConsistentCut cut, List<Server> servers) {
        this.cut = cut;
        this.servers = servers;
        this.configuration = cut.configuration();
        this.digests = new Digest[servers.size()][configuration.shardCount()];
    }

    public static LiveReplicaReport compare(ConsistentCut cut, List<Server> servers) {
        return new LiveComparison(cut, servers).compare();
    }

    private LiveReplicaReport compare() {
        for (BitSet group : groups()) {
            for (Server server : servers) {
                read(server, group);
            }
        }
        final List<ShardDigests> shards = new ArrayList<>();
        long objects = 0;
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final ShardAssignment assignment = configuration.shard(shard);
            final List<Digest> replicas = new ArrayList<>();
            replicas.add(digests[assignment.primary()][shard]);
            for (int backup : assignment.backups()) {
                if (assignment.isComplete(backup)) {
                    replicas.add(digests[backup][shard]);
                }
            }
            objects += replicas.get(0).objects();
            shards.add(new ShardDigests(shard, replicas));
        }
        return new LiveReplicaReport(objects, cut.versions(), shards, List.copyOf(damages));
    }

    /** Groups of shards that are read together. */
    private List<BitSet> groups() {
        final List<BitSet> groups = new ArrayList<>();
        BitSet group = new BitSet();
        long objects = 0;
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            group.set(shard);
            objects += servers.get(configuration.shard(shard).primary())
                    .replicas()
                    .get(shard)
                    .index()
                    .count();
            if (objects >= OBJECTS_AT_ONCE || shard == configuration.shardCount() - 1) {
                groups.add(group);
                group = new BitSet();
                objects = 0;
            }
        }
        return groups;
    }

    private void read(Server server, BitSet group) {
        final CutContents contents = new CutContents(
                group::get,
                new KeyHash(configuration.hashSeed()),
                server.segments().area().tenures(),
                server.segments().region());
        final CutReader reader = cut.reader(server);
        for (int segment : cut.segments(server)) {
            final String damage =
                    reader.read(segment, (buffer, at, offset, type, length) -> contents.apply(buffer, at, type));
            cut.requireHeld(server);
            if (damage != null) {
                damages.add("server " + server.serverId() + " at " + damage);
            }
        }
        final Digest[] found = contents.digests(server.serverId(), configuration.shardCount());
        group.stream().forEach(shard -> digests[server.serverId()][shard] = found[shard]);
    }
}
