package org.rowankv.server.digest;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/**
 * The tracker that commits used segments of one lane of the backup log (§4.4 of the paper): once, for every shard, the largest
 * version in it is ≤ CommitVer. Owned by the digest agent.
 */
final class LandedTracker {
    private static final long NONE = -1;

    /** One segment of the backup log, from its first digested entry until it is committed. */
    private static final class Landed {
        int segment;
        int bytes;
        int unassembledBlocks;
        /** Covers all of the segment; NONE before it is requested. */
        long ticket = NONE;
        /** The shard last found uncommitted: checked first. */
        int waitsForShard;

        final long[] maxVersion;

        Landed(int shardCount) {
            maxVersion = new long[shardCount];
        }
    }

    private final Segments segments;
    private final Replicas replicas;
    private final List<Landed> used = new ArrayList<>();
    private final ArrayDeque<Landed> spare = new ArrayDeque<>();
    private Landed open;

    LandedTracker(Segments segments, Replicas replicas) {
        this.segments = segments;
        this.replicas = replicas;
        this.open = new Landed(replicas.shardCount());
        this.open.segment = -1;
    }

    void entry(int segment, int length, int shard, long version) {
        at(segment);
        open.bytes += segments.charge(length);
        open.maxVersion[shard] = Math.max(open.maxVersion[shard], version);
    }

    void record(int segment, int length) {
        at(segment);
        open.bytes += segments.charge(length);
    }

    void block(int segment) {
        at(segment);
        open.unassembledBlocks++;
    }

    /** Returns false if the segment is not of this lane. */
    boolean blockDone(int segment) {
        if (open.segment == segment) {
            open.unassembledBlocks--;
            return true;
        }
        for (Landed landed : used) {
            if (landed.segment == segment) {
                landed.unassembledBlocks--;
                return true;
            }
        }
        return false;
    }

    private void at(int segment) {
        if (open.segment == -1) {
            open.segment = segment;
        } else if (open.segment != segment) {
            throw new AssertionError("entry in segment " + segment + " before " + open.segment + " was closed");
        }
    }

    /** Nothing more lands in the segment, and all of it is digested. */
    void closed(int segment) {
        at(segment);
        segments.transition(segment, SegmentState.USING, SegmentState.USED);
        segments.close(segment, open.bytes);
        used.add(open);
        open = spare.isEmpty() ? new Landed(replicas.shardCount()) : spare.pop();
        open.segment = -1;
    }

    /** Commits what can be committed; returns the number of segments. */
    int commit() {
        int committed = 0;
        // By position: this runs in every cycle of the agent, and an iterator would be garbage each time.
        for (int i = 0; i < used.size(); ) {
            final Landed landed = used.get(i);
            if (landed.unassembledBlocks == 0 && isCommitted(landed) && isForced(landed)) {
                segments.transition(landed.segment, SegmentState.USED, SegmentState.COMMITTED);
                used.remove(i);
                Arrays.fill(landed.maxVersion, 0);
                landed.bytes = 0;
                landed.waitsForShard = 0;
                landed.ticket = NONE;
                spare.push(landed);
                committed++;
            } else {
                i++;
            }
        }
        return committed;
    }

    /** A start must find nothing torn in a committed segment, not even a place that was never filled. */
    private boolean isForced(Landed landed) {
        if (landed.ticket == NONE) {
            segments.area().flush(segments.area().addressOf(landed.segment), segments.length());
            landed.ticket = segments.area().verbs().request();
        }
        return segments.area().verbs().isForced(landed.ticket);
    }

    private boolean isCommitted(Landed landed) {
        if (waitsFor(landed, landed.waitsForShard)) {
            return false;
        }
        for (int shard = 0; shard < landed.maxVersion.length; shard++) {
            if (waitsFor(landed, shard)) {
                landed.waitsForShard = shard;
                return false;
            }
        }
        return true;
    }

    private boolean waitsFor(Landed landed, int shard) {
        // Entries of a shard that this server does not hold are void, and count as committed.
        final ShardReplica replica = replicas.find(shard);
        return replica != null && landed.maxVersion[shard] > replica.commitVersion();
    }

    int usedCount() {
        return used.size();
    }
}
