package org.rowankv.sim.state;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * Checks the segments that a digest commits. Invariant: when a segment of the backup log becomes committed (§4.4 of
 * the paper), every replica's log contains every entry in it. A replica that has learned a CommitVer covering an entry
 * had it, and may have dropped it since.
 */
public final class CommitChecker {
    private record Use(int server, int segment, int generation) {}

    private final Consumer<String> violation;
    private final Set<Use> known = new HashSet<>();

    public CommitChecker(Consumer<String> violation) {
        this.violation = violation;
    }

    /**
     * A server has committed segments.
     *
     * @param servers by number; null where one does not serve, or where bits have flipped: then an entry may look like
     *     another one
     */
    public void onCommitted(Server server, Configuration configuration, List<@Nullable Server> servers) {
        final Segments segments = server.segments();
        for (int segment = 0; segment < segments.count(); segment++) {
            if (segments.state(segment) == SegmentState.COMMITTED
                    && segments.owner(segment) == SegmentOwner.BACKUP
                    && known.add(new Use(server.serverId(), segment, segments.generation(segment)))) {
                check(server, segment, configuration, servers);
            }
        }
    }

    private void check(Server server, int segment, Configuration configuration, List<@Nullable Server> servers) {
        final Segments segments = server.segments();
        new SegmentScan(segments.region())
                .scan(
                        segments.area().addressOf(segment),
                        segments.length(),
                        segments.generation(segment),
                        new SegmentScan.Visitor() {
                            @Override
                            public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
                                if (type != EntryType.COMMIT_VECTOR) {
                                    check(server, segment, buffer, at, configuration, servers);
                                }
                            }

                            @Override
                            public void onInvalid(long address, String reason) {
                                // Another checker handles damage.
                            }
                        });
    }

    private void check(
            Server server,
            int segment,
            ByteBuffer buffer,
            int at,
            Configuration configuration,
            List<@Nullable Server> servers) {
        final int shard = EntryDescriptor.shard(buffer, at);
        final long version = EntryDescriptor.version(buffer, at);
        final ShardAssignment assignment = configuration.shard(shard);
        if (!server.replicas().has(shard)
                || FrameDescriptor.tag(buffer, at)
                        < server.replicas().get(shard).tenure()) {
            return; // void
        }
        if (Version.epoch(version) < assignment.epoch()) {
            return; // written before the start, which has checked it
        }
        for (Server other : servers) {
            if (other != null
                    && other != server
                    && assignment.isReplica(other.serverId())
                    && !assignment.isJoining(other.serverId())
                    && other.replicas().get(shard).commitVersion() < version
                    && !has(other, shard, version)) {
                violation.accept("server " + server.serverId() + " has committed segment " + segment
                        + ", and the entry in it of version " + Version.toString(version) + " of shard " + shard
                        + " is not in the log of server " + other.serverId());
            }
        }
    }

    private static boolean has(Server server, int shard, long version) {
        final Segments segments = server.segments();
        for (int segment = 0; segment < segments.count(); segment++) {
            final int generation = segments.generation(segment);
            if (generation != 0 && has(segments, segment, generation, shard, version)) {
                return true;
            }
        }
        return false;
    }

    private static boolean has(Segments segments, int segment, int generation, int shard, long version) {
        final long start = segments.area().addressOf(segment);
        final ByteBuffer buffer = segments.region().buffer(start);
        final int offset = segments.region().offset(start);
        for (int at = offset; at < offset + segments.length(); at += FrameDescriptor.STRIDE) {
            final long word = FrameDescriptor.wordAcquire(buffer, at);
            final int type = FrameDescriptor.type(word);
            if (FrameDescriptor.generation(word) == generation
                    && FrameDescriptor.isEntryType(type)
                    && type != EntryType.COMMIT_VECTOR
                    && EntryDescriptor.version(buffer, at) == version
                    && EntryDescriptor.shard(buffer, at) == shard) {
                return true;
            }
        }
        return false;
    }
}
