package org.rowankv.server.digest;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;

/**
 * Orders CommitVer of a new epoch behind what had landed before in other lanes.
 *
 * <p>An entry at or below CommitVer is dropped as a repetition: its first copy was digested before. One log gives that by
 * its order. With lanes, the record of a new primary may be read before the entries of its predecessor, in another lane;
 * these are in no other place of this replica, and acknowledged. So the first CommitVer of an epoch in a lane counts
 * only when every other lane is digested up to a mark taken when it was read. Until then nothing else waits: lanes that
 * waited for one another would never go on.
 *
 * <p>The mark covers every entry of an earlier epoch: nothing of a former primary lands once the new one is open, and it
 * sends no record before.
 *
 * <p>With one lane nothing is ever held. Owned by the digest agent.
 */
final class EpochBarrier {
    private final DigestedLanes lanes;
    /** By lane and shard: the last epoch whose CommitVer counts at once. */
    private final List<int[]> epochs = new ArrayList<>();

    /** By shard: what is held; 0 if nothing. */
    private final long[] held;

    private final int[] heldIn;
    private final @Nullable LandingPosition[] marks;
    private int heldCount;

    EpochBarrier(DigestedLanes lanes, int shardCount) {
        this.lanes = lanes;
        this.held = new long[shardCount];
        this.heldIn = new int[shardCount];
        this.marks = new @Nullable LandingPosition[shardCount];
    }

    /** Whether a CommitVer of a shard, read in a lane, counts now. If not, it is held, or one above it is. */
    boolean passes(int lane, int shard, long version) {
        if (lanes.count() == 1 || Version.epoch(version) <= epochsOf(lane)[shard]) {
            return true;
        }
        if (held[shard] == 0 || Version.epoch(version) > Version.epoch(held[shard])) {
            final LandingPosition mark = lanes.landed();
            // Its own lane is in order.
            mark.set(lane, 0, 0);
            if (lanes.isBehind(mark)) {
                begin(lane, shard, version);
                return true;
            }
            heldCount += held[shard] == 0 ? 1 : 0;
            marks[shard] = mark;
            heldIn[shard] = lane;
        }
        held[shard] = Math.max(held[shard], version);
        return false;
    }

    private int[] epochsOf(int lane) {
        while (epochs.size() <= lane) {
            epochs.add(new int[held.length]);
        }
        return epochs.get(lane);
    }

    private void begin(int lane, int shard, long version) {
        epochsOf(lane)[shard] = Version.epoch(version);
        if (held[shard] != 0 && held[shard] <= version) {
            forget(shard);
        }
    }

    /** Whether anything is held. */
    boolean holds() {
        return heldCount > 0;
    }

    /** Returns the held CommitVer of a shard once it counts, and holds it no more; else 0. */
    long release(int shard) {
        final LandingPosition mark = marks[shard];
        if (mark == null || !lanes.isBehind(mark)) {
            return 0;
        }
        final long version = held[shard];
        epochsOf(heldIn[shard])[shard] = Version.epoch(version);
        forget(shard);
        return version;
    }

    /** Another tenure of the shard begins, or none. */
    void forget(int shard) {
        if (held[shard] != 0) {
            held[shard] = 0;
            marks[shard] = null;
            heldCount--;
        }
    }
}
