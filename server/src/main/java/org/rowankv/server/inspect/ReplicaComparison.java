package org.rowankv.server.inspect;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;
import org.rowankv.server.directory.AreaImage;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.directory.Damage;
import org.rowankv.server.inspect.AreaReplay.ObjectKey;
import org.rowankv.server.inspect.AreaReplay.ObjectState;
import org.rowankv.server.inspect.ReplicaReport.Difference;
import org.rowankv.server.inspect.ReplicaReport.Digest;
import org.rowankv.server.inspect.ReplicaReport.ShardDigests;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardAssignment;

/**
 * A comparison of each shard's replicas by the servers' areas alone. First by an order-independent digest of each
 * replica, with one area in memory at a time; then, for shards whose digests differ, object by object. For one thread.
 */
final class ReplicaComparison {
    /** The replayed state of one area. */
    private static final class Replayed implements AreaWalk.Visitor {
        private final AreaReplay replay;
        private long damagedPlaces;

        Replayed(AreaImage area, Configuration configuration, IntPredicate selected) {
            replay = new AreaReplay(configuration.shardCount(), selected);
            damagedPlaces = area.damages().size();
            AreaWalk.walk(area, this);
        }

        @Override
        public void onEntry(StoredEntry entry, ByteBuffer buffer, int at) {
            if (entry.shard() < replay.shardCount()) {
                replay.apply(entry, buffer, at);
            }
        }

        @Override
        public void onDamage(Damage damage) {
            damagedPlaces++;
        }
    }

    private final ClosedStore store;
    private final Configuration configuration;
    private final KeyHash hash;
    private final long[] commitVersions;
    private boolean clean = true;
    private long damagedPlaces;

    ReplicaComparison(ClosedStore store, Configuration configuration) {
        this.store = store;
        this.configuration = configuration;
        this.hash = new KeyHash(configuration.hashSeed());
        this.commitVersions = new long[configuration.shardCount()];
    }

    ReplicaReport compare() {
        final List<Digest[]> byServer = new ArrayList<>();
        for (int server = 0; server < configuration.serverCount(); server++) {
            byServer.add(digests(server));
        }
        final List<ShardDigests> shards = new ArrayList<>();
        final TreeSet<Integer> differing = new TreeSet<>();
        long objects = 0;
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final List<Digest> replicas = new ArrayList<>();
            for (int server : replicasOf(shard)) {
                replicas.add(byServer.get(server)[shard]);
            }
            final ShardDigests digests = new ShardDigests(shard, replicas);
            shards.add(digests);
            objects += replicas.get(0).objects();
            if (!digests.agree()) {
                differing.add(shard);
            }
        }
        final List<Difference> differences = new ArrayList<>();
        final List<Difference> unsettled = new ArrayList<>();
        if (!differing.isEmpty()) {
            nameDifferences(differing, differences, unsettled);
        }
        return new ReplicaReport(store.shape().replicas(), objects, shards, differences, unsettled, damagedPlaces);
    }

    private Digest[] digests(int server) {
        final AreaImage area = store.area(server);
        clean &= area.superblock().clean();
        final Replayed replayed = new Replayed(area, configuration, shard -> true);
        damagedPlaces += replayed.damagedPlaces;
        final long[] objects = new long[configuration.shardCount()];
        final long[] sums = new long[configuration.shardCount()];
        replayed.replay.forEachObject((key, shard, expires, state, places) -> {
            objects[shard]++;
            sums[shard] += digestOf(key, state);
        });
        final Digest[] digests = new Digest[configuration.shardCount()];
        for (int shard = 0; shard < digests.length; shard++) {
            digests[shard] = new Digest(server, objects[shard], sums[shard]);
            commitVersions[shard] = Math.max(commitVersions[shard], replayed.replay.commitVersion(shard));
        }
        return digests;
    }

    private long digestOf(ObjectKey key, ObjectState state) {
        final byte[] bytes = key.key().array();
        final long keyHash = hash.hash(key.cacheId(), bytes, 0, bytes.length);
        return ObjectDigest.of(keyHash, state.version(), state.objectVersion(), state.valueCrc(), state.expiryMs());
    }

    private int[] replicasOf(int shard) {
        final ShardAssignment assignment = configuration.shard(shard);
        // Missing entries on a replica that is catching up are no difference.
        final int[] backups = Arrays.stream(assignment.backups())
                .filter(assignment::isComplete)
                .toArray();
        final int[] replicas = new int[backups.length + 1];
        replicas[0] = assignment.primary();
        System.arraycopy(backups, 0, replicas, 1, backups.length);
        return replicas;
    }

    private void nameDifferences(TreeSet<Integer> differing, List<Difference> differences, List<Difference> unsettled) {
        final List<AreaReplay> replays = new ArrayList<>();
        final List<Map<Integer, Map<ObjectKey, ObjectState>>> objects = new ArrayList<>();
        for (int server = 0; server < configuration.serverCount(); server++) {
            final AreaReplay replay = new Replayed(store.area(server), configuration, differing::contains).replay;
            final Map<Integer, Map<ObjectKey, ObjectState>> byShard = new HashMap<>();
            replay.forEachObject((key, shard, expires, state, places) ->
                    byShard.computeIfAbsent(shard, unused -> new HashMap<>()).put(key, state));
            replays.add(replay);
            objects.add(byShard);
        }
        for (int shard : differing) {
            final int[] replicas = replicasOf(shard);
            for (int i = 1; i < replicas.length; i++) {
                final Map<ObjectKey, ObjectState> primary =
                        objects.get(replicas[0]).getOrDefault(shard, Map.of());
                final Map<ObjectKey, ObjectState> backup =
                        objects.get(replicas[i]).getOrDefault(shard, Map.of());
                final TreeSet<ObjectKey> keys = new TreeSet<>(AreaReplay.ORDER);
                keys.addAll(primary.keySet());
                keys.addAll(backup.keySet());
                for (ObjectKey key : keys) {
                    final ObjectState one = primary.get(key);
                    final ObjectState other = backup.get(key);
                    if (one == null || !one.equals(other)) {
                        final long last = Math.max(
                                replays.get(replicas[0]).lastVersion(key, shard),
                                replays.get(replicas[i]).lastVersion(key, shard));
                        (clean || last <= commitVersions[shard] ? differences : unsettled)
                                .add(new Difference(
                                        shard,
                                        key.cacheId(),
                                        key.key().array(),
                                        replicas[0],
                                        text(one),
                                        replicas[i],
                                        text(other)));
                    }
                }
            }
        }
    }

    private static String text(@Nullable ObjectState state) {
        return state == null
                ? "nothing"
                : "version " + Version.toString(state.objectVersion()) + " (entry " + Version.toString(state.version())
                        + ", value crc " + Integer.toHexString(state.valueCrc())
                        + (state.expiryMs() == Long.MAX_VALUE ? "" : ", expires at " + state.expiryMs()) + ")";
    }
}
