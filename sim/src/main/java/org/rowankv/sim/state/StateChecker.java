package org.rowankv.sim.state;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Parts;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.sim.workload.CacheLife;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * Checker of the internal state of servers during a pause: replicas agree, segments add up, and space is accounted for
 * to the byte.
 */
public final class StateChecker {
    private static final int LOCK_OWNER = 1 << 23;

    private final Consumer<String> violation;

    public StateChecker(Consumer<String> violation) {
        this.violation = violation;
    }

    /**
     * Compares replicas, but for incomplete ones. Precondition: all landed entries are digested.
     *
     * @param leftOut servers that are not compared
     */
    public void requireAgreement(Configuration configuration, List<Server> servers, Set<Integer> leftOut) {
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final ShardAssignment assignment = configuration.shard(shard);
            final List<Integer> compared = new ArrayList<>(List.of(assignment.primary()));
            for (int backup : assignment.backups()) {
                if (!assignment.isJoining(backup)) {
                    compared.add(backup);
                }
            }
            compared.removeAll(leftOut);
            if (compared.isEmpty()) {
                continue;
            }
            final Map<String, String> expected = objects(servers.get(compared.get(0)), shard);
            for (int other : compared.subList(1, compared.size())) {
                final Map<String, String> found = objects(servers.get(other), shard);
                if (!found.equals(expected)) {
                    violation.accept("replicas of shard " + shard + " differ: server " + compared.get(0) + " has "
                            + expected + ", server " + other + " has " + found);
                }
            }
        }
    }

    /**
     * As above, for a server with a damaged area. It lacks no more objects than its index points to damaged entries,
     * and its intact objects agree.
     */
    public void requireAgreementBesidesDamage(Configuration configuration, List<Server> servers, int damaged) {
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final ShardAssignment assignment = configuration.shard(shard);
            if (!assignment.isComplete(damaged)) {
                continue;
            }
            final List<Long> broken = new ArrayList<>();
            final Map<String, String> found = objects(servers.get(damaged), shard, broken);
            for (Server other : servers) {
                if (other.serverId() == damaged || !assignment.isComplete(other.serverId())) {
                    continue;
                }
                final Map<String, String> expected = objects(other, shard);
                if (!expected.entrySet().containsAll(found.entrySet())
                        || expected.size() - found.size() > broken.size()) {
                    violation.accept("replicas of shard " + shard + " differ: server " + other.serverId() + " has "
                            + expected + ", server " + damaged + " has " + found + " and damaged entries at " + broken);
                }
            }
        }
    }

    /** The visible objects in one replica's index: version, object version, length, expiry and checksum by key. */
    public static Map<String, String> objects(Server server, int shard) {
        return objects(server, shard, null);
    }

    /**
     * As above. @param broken receives the addresses of damaged entries, which are then skipped; null: no damage is
     * allowed
     */
    private static Map<String, String> objects(Server server, int shard, @Nullable List<Long> broken) {
        final ShardReplica replica = server.replicas().get(shard);
        final Segments segments = server.segments();
        final MemoryRegion region = segments.region();
        final EntryCheck check = new EntryCheck(region);
        final Map<String, String> objects = new TreeMap<>();
        long position = 0;
        do {
            replica.index().lock(LOCK_OWNER);
            try {
                position = replica.index().visit(position, address -> {
                    if (broken != null && isDamaged(segments, check, address)) {
                        broken.add(address);
                        return;
                    }
                    final ByteBuffer buffer = region.buffer(address);
                    final int at = region.offset(address);
                    final int flags = EntryDescriptor.flags(buffer, at);
                    final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(buffer, at));
                    final long version = EntryDescriptor.version(buffer, at);
                    if (replica.isVisible(type, EntryDescriptor.cacheId(buffer, at), version)) {
                        final byte[] key = new byte[EntryDescriptor.keyLength(buffer, at)];
                        buffer.get(at + EntryDescriptor.headerLength(flags), key);
                        objects.put(
                                EntryDescriptor.cacheId(buffer, at) + "/" + new String(key, StandardCharsets.UTF_8),
                                Version.toString(version) + "/"
                                        + Version.toString(EntryDescriptor.objectVersion(buffer, at, flags)) + "/"
                                        + EntryDescriptor.valueLength(buffer, at) + "/"
                                        + EntryDescriptor.expiryMs(buffer, at, flags) + "/"
                                        + FrameDescriptor.bodyCrc(buffer, at));
                    }
                });
            } finally {
                replica.index().unlock();
            }
        } while (position != 0);
        return objects;
    }

    public static boolean isDamaged(Segments segments, EntryCheck check, long address) {
        final int segment = segments.segmentOf(address);
        final long end = segments.area().addressOf(segment) + segments.length();
        return check.whyInvalid(address, end, segments.generation(segment)) != null;
    }

    /** Every replica's object counts per cache equal those of a walk over its index. */
    public void requireCounts(List<Server> servers, int shardCount) {
        for (Server server : servers) {
            for (int shard = 0; shard < shardCount; shard++) {
                if (server.replicas().has(shard)) {
                    requireCounts(server, server.replicas().get(shard));
                }
            }
        }
    }

    private void requireCounts(Server server, ShardReplica replica) {
        final Map<Integer, long[]> found = count(server, replica);
        found.computeIfAbsent(0, unused -> new long[2]); // Id 0 and the id above all must count zero.
        found.computeIfAbsent(Collections.max(found.keySet()) + 1, unused -> new long[2]);
        for (int cacheId = 0; cacheId <= Collections.max(found.keySet()); cacheId++) {
            final long[] counted = found.getOrDefault(cacheId, new long[2]);
            if (counted[0] != replica.counts().objects(cacheId)
                    || counted[1] != replica.counts().bytes(cacheId)) {
                violation.accept("server " + server.serverId() + " counts "
                        + replica.counts().objects(cacheId) + " objects of cache " + cacheId + " in shard "
                        + replica.shardId() + ", of " + replica.counts().bytes(cacheId) + " bytes; there are "
                        + counted[0] + ", of " + counted[1] + " bytes");
            }
        }
    }

    private static Map<Integer, long[]> count(Server server, ShardReplica replica) {
        final Segments segments = server.segments();
        final Map<Integer, long[]> found = new TreeMap<>();
        long position = 0;
        do {
            replica.index().lock(LOCK_OWNER);
            try {
                position = replica.index().visit(position, address -> {
                    final ByteBuffer buffer = segments.region().buffer(address);
                    final int at = segments.region().offset(address);
                    final long word = FrameDescriptor.wordPlain(buffer, at);
                    if (EntryType.holdsObject(FrameDescriptor.type(word))) {
                        final int id = EntryDescriptor.cacheId(buffer, at);
                        final long[] own = found.computeIfAbsent(Parts.cacheOf(id), unused -> new long[2]);
                        own[0] += Parts.isParts(id) ? 0 : 1;
                        own[1] += segments.charge(FrameDescriptor.length(word));
                    }
                });
            } finally {
                replica.index().unlock();
            }
        } while (position != 0);
        return found;
    }

    /**
     * Returns the caches above their limits: a server's part of a limit is that of the shards it is primary of, and at
     * least 1.
     */
    public String aboveLimits(Configuration configuration, List<Server> servers, List<CacheLife> caches) {
        final StringBuilder above = new StringBuilder();
        for (CacheLife cache : caches) {
            if (cache.limit().isNone() || cache.isDestroyed()) {
                continue;
            }
            for (Server server : servers) {
                long objects = 0;
                long bytes = 0;
                int own = 0;
                for (int shard = 0; shard < configuration.shardCount(); shard++) {
                    if (configuration.shard(shard).primary() == server.serverId()) {
                        own++;
                        objects += server.replicas().get(shard).counts().objects(cache.id());
                        bytes += server.replicas().get(shard).counts().bytes(cache.id());
                    }
                }
                if (isAbove(objects, cache.limit().maxEntries(), own, configuration.shardCount())
                        || isAbove(bytes, cache.limit().maxBytes(), own, configuration.shardCount())) {
                    above.append(cache).append(" has ").append(cache.limit()).append(", and server ");
                    above.append(server.serverId()).append(" with ").append(own).append(" of ");
                    above.append(configuration.shardCount())
                            .append(" shards has ")
                            .append(objects);
                    above.append(" objects of ").append(bytes).append(" bytes; ");
                }
            }
        }
        return above.toString();
    }

    private static boolean isAbove(long count, long limit, int ownShards, int allShards) {
        return limit != CacheLimit.NO_LIMIT && count > Math.max(1, limit * ownShards / allShards);
    }

    /** A cache without a limit has no evictions. */
    public void requireEvictions(List<Server> servers, List<CacheLife> caches) {
        for (CacheLife cache : caches) {
            for (Server server : servers) {
                if (cache.limit().isNone() && server.limits().evictions(cache.id()) > 0) {
                    violation.accept("server " + server.serverId() + " has evicted "
                            + server.limits().evictions(cache.id()) + " objects of " + cache + ", which has no limit");
                }
            }
        }
    }

    public void requireSegments(List<Server> servers) {
        for (Server server : servers) {
            final Segments segments = server.segments();
            int free = 0;
            for (int segment = 0; segment < segments.count(); segment++) {
                final boolean isFree = segments.state(segment) == SegmentState.FREE;
                free += isFree ? 1 : 0;
                if (isFree != (segments.generation(segment) == 0)) {
                    violation.accept("segment " + segment + " of server " + server.serverId() + " is "
                            + segments.state(segment) + " and has generation " + segments.generation(segment));
                }
                if (!isFree
                        && segments.generation(segment)
                                != segments.area().segments().generation(segment)) {
                    violation.accept("segment " + segment + " of server " + server.serverId()
                            + " has another generation in memory than in its table");
                }
            }
            final int total = server.statistics().segments().total();
            if (free != segments.freeCount() || total != segments.count()) {
                violation.accept("server " + server.serverId() + " counts " + segments.freeCount()
                        + " free segments of " + total + ", there are " + free + " of " + segments.count());
            }
        }
    }

    /**
     * Returns the difference between used space and live data. Preconditions: no session is open, no grant is held, and
     * agents are idle.
     */
    public String spaceDifference(List<Server> servers) {
        final StringBuilder differences = new StringBuilder();
        for (Server server : servers) {
            final Segments segments = server.segments();
            final long taken = segments.space().limit() - segments.space().available();
            final Live counted = new Live(server, violation);
            final long live = counted.count();
            if (taken < live || taken > live + counted.mayCount) {
                differences
                        .append("server ")
                        .append(server.serverId())
                        .append(" has ")
                        .append(taken)
                        .append(" bytes taken and ")
                        .append(live)
                        .append(" that live; ")
                        .append(counted.perSegment());
            }
        }
        return differences.toString();
    }

    /** Count of live bytes by a scan of every segment: entries that the index points to, and tombstones. */
    private static final class Live implements SegmentScan.Visitor {
        private final Server server;
        private final Consumer<String> violation;
        private final byte[] scratch = new byte[1 << 10];
        private final long[] liveIn;
        private final StringBuilder[] entries;
        private long live;
        /**
         * Tombstones of a former tenure: they count as long as the process runs that has given up the replica, and not
         * after its next start.
         */
        private long mayCount;

        Live(Server server, Consumer<String> violation) {
            this.server = server;
            this.violation = violation;
            this.liveIn = new long[server.segments().count()];
            this.entries = new StringBuilder[liveIn.length];
        }

        /** Returns closed segments whose own account differs. */
        String perSegment() {
            final Segments segments = server.segments();
            final StringBuilder differences = new StringBuilder();
            for (int s = 0; s < liveIn.length; s++) {
                final long expected = segments.isClosed(s) ? segments.liveBytes(s, 0) : liveIn[s];
                if (expected != liveIn[s]) {
                    differences
                            .append("segment ")
                            .append(s)
                            .append(" counts ")
                            .append(expected)
                            .append(", there are ")
                            .append(liveIn[s])
                            .append(':')
                            .append(entries[s])
                            .append("; ");
                }
            }
            return differences.toString();
        }

        long count() {
            final Segments segments = server.segments();
            final SegmentScan scan = new SegmentScan(segments.region());
            for (int s = 0; s < segments.count(); s++) {
                if (segments.state(s) != SegmentState.FREE) {
                    scan.scan(segments.area().addressOf(s), segments.length(), segments.generation(s), this);
                }
            }
            return live;
        }

        @Override
        public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
            final boolean counts;
            if (EntryType.isTombstone(type)) {
                counts = !isOfFormerTenure(buffer, at);
                mayCount += counts ? 0 : server.segments().charge(length);
            } else if (EntryType.holdsObject(type)) {
                final ShardReplica replica = server.replicas().find(EntryDescriptor.shard(buffer, at));
                counts = replica != null && replica.index().refers(replica.positionOf(buffer, at, scratch), address);
            } else {
                counts = false;
            }
            final int segment = server.segments().segmentOf(address);
            final int charge = counts ? server.segments().charge(length) : 0;
            live += charge;
            liveIn[segment] += charge;
            if (entries[segment] == null) {
                entries[segment] = new StringBuilder();
            }
            entries[segment]
                    .append(' ')
                    .append(EntryType.name(type))
                    .append(counts ? "+" : "-")
                    .append(length);
        }

        private boolean isOfFormerTenure(ByteBuffer buffer, int at) {
            final int shard = EntryDescriptor.shard(buffer, at);
            return !server.replicas().has(shard)
                    || FrameDescriptor.tag(buffer, at)
                            < server.replicas().get(shard).tenure();
        }

        @Override
        public void onInvalid(long address, String reason) {
            violation.accept("server " + server.serverId() + " holds an invalid entry at " + address + ": " + reason);
        }
    }
}
