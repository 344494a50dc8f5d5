package org.rowankv.server.recovery;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * Collect and scatter (§4.5 and §4.7 of the paper) after a common start of servers. The primary of a shard, in the
 * configuration being started, asks every other complete replica for entries that may not be on all replicas. It
 * copies what it lacks, and sends each replica what that one lacks. Afterwards all replicas hold the same entries: an
 * unacknowledged write takes effect everywhere or, if no replica has it, nowhere. Replicas that are catching up take no
 * part: their content does not count, and the copy sends them everything later.
 *
 * <p>Every step is idempotent: adding an existing entry has no effect. An interrupted start changes nothing that the
 * next one would not repeat.
 *
 * <p>One thread at a time uses the recovered server: calls as primary and as backup exclude each other here.
 */
public final class LogReconciliation implements RecoveredReplicas {
    /** Another complete replica of a shard, and what it has of those entries that some replica lacks. */
    private record Other(RecoveredReplicas replicas, Set<Long> held) {}

    /**
     * Entries of a shard that some complete replicas have and others lack.
     *
     * @param lacking versions that some replica has and another one lacks
     * @param mine the subset that this server has
     */
    private record Compared(Set<Long> lacking, Set<Long> mine, List<Other> others) {}

    private final Configuration configuration;
    private final RecoveredServer own;
    private final IntFunction<RecoveredReplicas> servers;
    /** By shard: the versions that the scan found and that may not be on all replicas. */
    private final Map<Integer, SortedSet<Long>> found = new HashMap<>();
    /** By local primary shard. Owned by the thread of the primary's calls. */
    private final Map<Integer, Compared> compared = new TreeMap<>();
    /** By shard: the versions that were added since. */
    private final Map<Integer, Set<Long>> taken = new HashMap<>();

    /** @param servers the others, by number */
    public LogReconciliation(Configuration configuration, RecoveredServer own, IntFunction<RecoveredReplicas> servers) {
        this.configuration = configuration;
        this.own = own;
        this.servers = servers;
    }

    /** Reconciles all servers of a store in this process, and finishes their recovery; returns the number of copies. */
    public static long reconcile(Configuration configuration, List<RecoveredServer> recovered) {
        final List<LogReconciliation> all = new ArrayList<>();
        for (RecoveredServer server : recovered) {
            all.add(new LogReconciliation(configuration, server, all::get));
        }
        for (LogReconciliation each : all) {
            each.compare();
        }
        long copies = 0;
        for (LogReconciliation each : all) {
            copies += each.scatter(shard -> all.forEach(replica -> replica.release(shard)));
        }
        Chaos.point("start.scattered");
        for (RecoveredServer server : recovered) {
            server.finish();
        }
        Chaos.point("start.recovered");
        return copies;
    }

    // --- as the primary ---

    /**
     * Compares the content of all complete replicas, for each local primary shard, and gives them the result. A server
     * may drop entries that all replicas have, to free space: so no server adds entries before all shards are compared.
     */
    public void compare() {
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            if (configuration.shard(shard).primary() == own.serverId()) {
                compare(shard, others(configuration.shard(shard)));
            }
        }
    }

    private List<Other> others(ShardAssignment assignment) {
        final List<Other> others = new ArrayList<>();
        for (int backup : assignment.backups()) {
            if (assignment.isComplete(backup)) {
                others.add(new Other(servers.apply(backup), new TreeSet<>()));
            }
        }
        return others;
    }

    private void compare(int shard, List<Other> others) {
        if (others.isEmpty()) {
            return;
        }
        // Above the highest CommitVer of these replicas: up to it every replica had the entries, and may have dropped
        // them.
        long commitVersion = own.replicas().get(shard).commitVersion();
        for (Other other : others) {
            commitVersion = Math.max(commitVersion, other.replicas.collect(shard, commitVersion, other.held));
        }
        final Set<Long> mine = new TreeSet<>();
        final long unused = collect(shard, commitVersion, mine);
        final Set<Long> lacking = new TreeSet<>(mine);
        final Set<Long> common = new HashSet<>(mine);
        for (Other other : others) {
            final long known = commitVersion;
            other.held.removeIf(version -> version <= known);
            lacking.addAll(other.held);
            common.retainAll(other.held);
        }
        lacking.removeAll(common);
        mine.retainAll(lacking);
        others.forEach(other -> other.held.retainAll(lacking));
        compared.put(shard, new Compared(lacking, mine, others));
        others.forEach(other -> other.replicas.keepOnly(shard, lacking));
        keepOnly(shard, lacking);
    }

    /**
     * After all servers have compared: completes the replicas of the local primary shards; returns the number of copied
     * entries.
     */
    public long scatter() {
        return scatter(shard -> {});
    }

    private long scatter(IntConsumer completed) {
        long copies = 0;
        for (Map.Entry<Integer, Compared> each : compared.entrySet()) {
            final int shard = each.getKey();
            final Compared found = each.getValue();
            for (long version : found.lacking) {
                copies += spread(shard, version, found.mine.contains(version), found.others);
            }
            completed.accept(shard);
            Chaos.point("start.collected");
        }
        return copies;
    }

    private int spread(int shard, long version, boolean isMine, List<Other> others) {
        int copies = 0;
        final ByteBuffer entry = isMine ? fetch(shard, version) : fetchFrom(others, shard, version);
        if (entry == null) {
            throw new AssertionError("version " + version + " of shard " + shard + " is on no replica");
        }
        if (!isMine) {
            take(shard, version, entry.duplicate().order(ByteOrder.LITTLE_ENDIAN));
            copies++;
        }
        for (Other other : others) {
            if (!other.held.contains(version)) {
                other.replicas.take(shard, version, entry.duplicate().order(ByteOrder.LITTLE_ENDIAN));
                copies++;
            }
        }
        return copies;
    }

    private static @Nullable ByteBuffer fetchFrom(List<Other> others, int shard, long version) {
        for (Other other : others) {
            if (other.held.contains(version)) {
                return other.replicas.fetch(shard, version);
            }
        }
        return null;
    }

    // --- as primary and backup ---

    @Override
    public synchronized long collect(int shard, long above, Set<Long> versions) {
        final long commitVersion = own.replicas().get(shard).commitVersion();
        versions.addAll(found(shard).tailSet(Math.max(above, commitVersion) + 1));
        return commitVersion;
    }

    private SortedSet<Long> found(int shard) {
        return found.computeIfAbsent(
                shard, one -> own.candidates(one, own.replicas().get(one).commitVersion()));
    }

    @Override
    public synchronized void keepOnly(int shard, Set<Long> lacking) {
        final boolean unused = found(shard).retainAll(lacking);
        own.agreeAllBut(shard, lacking);
    }

    /** All replicas have all entries of the shard, if this server has a complete one. */
    private synchronized void release(int shard) {
        if (configuration.shard(shard).isComplete(own.serverId())) {
            own.agreeAllBut(shard, Set.of());
        }
    }

    @Override
    public synchronized @Nullable ByteBuffer fetch(int shard, long version) {
        final long address = own.candidate(shard, version);
        if (address == 0) {
            return null;
        }
        final ByteBuffer source = own.segments().region().buffer(address);
        final int at = own.segments().region().offset(address);
        final int length = FrameDescriptor.length(FrameDescriptor.wordPlain(source, at));
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN).put(0, source, at, length);
    }

    @Override
    public synchronized void take(int shard, long version, ByteBuffer entry) {
        if (!found(shard).contains(version)
                && taken.computeIfAbsent(shard, one -> new HashSet<>()).add(version)) {
            own.takeOver(entry, 0, own.replicas().get(shard).tenure());
            Chaos.point("start.taken-over");
        }
    }
}
