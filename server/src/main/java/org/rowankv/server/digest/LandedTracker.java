package org.rowankv.server.digest;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.rowankv.server.log.Segments;
import org.rowankv.server.pm.SegmentState;
import org.rowankv.server.shard.Replicas;

/**
 * Tells when a segment of the backup log turns from used into committed (§4.4 of the paper): when for every shard the
 * largest version in it is ≤ CommitVer. Owned by the digest agent.
 */
final class LandedTracker {
    /** One segment of the backup log, from its first digested entry until it is committed. */
    private static final class Landed {
        int segment;
        int bytes;
        int unassembledBlocks;
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

    void blockDone(int segment) {
        if (open.segment == segment) {
            open.unassembledBlocks--;
            return;
        }
        for (Landed landed : used) {
            if (landed.segment == segment) {
                landed.unassembledBlocks--;
                return;
            }
        }
        throw new AssertionError("block in segment " + segment + ", which is not tracked");
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

    /** Turns into committed what is; returns how many segments. */
    int commit() {
        int committed = 0;
        for (Iterator<Landed> iterator = used.iterator(); iterator.hasNext(); ) {
            final Landed landed = iterator.next();
            if (landed.unassembledBlocks == 0 && isCommitted(landed)) {
                segments.transition(landed.segment, SegmentState.USED, SegmentState.COMMITTED);
                iterator.remove();
                java.util.Arrays.fill(landed.maxVersion, 0);
                landed.bytes = 0;
                spare.push(landed);
                committed++;
            }
        }
        return committed;
    }

    private boolean isCommitted(Landed landed) {
        for (int shard = 0; shard < landed.maxVersion.length; shard++) {
            // What landed of a shard that this server does not hold is void, and counts as committed.
            if (replicas.has(shard)
                    && landed.maxVersion[shard] > replicas.get(shard).commitVersion()) {
                return false;
            }
        }
        return true;
    }

    int usedCount() {
        return used.size();
    }
}
