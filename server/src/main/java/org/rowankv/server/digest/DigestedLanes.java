package org.rowankv.server.digest;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.rowan.LandingCursor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;

/** The lanes of the backup log, and how far each is digested. Owned by the digest agent; allocates only for a new lane. */
final class DigestedLanes {
    private final ReceiveQueue queue;
    private final EndpointSettings settings;
    private final Segments segments;
    private final Replicas replicas;
    private final List<DigestedLane> lanes = new ArrayList<>();

    DigestedLanes(ReceiveQueue queue, EndpointSettings settings, Segments segments, Replicas replicas) {
        this.queue = queue;
        this.settings = settings;
        this.segments = segments;
        this.replicas = replicas;
        grow();
    }

    /** Adds those that the queue has since. */
    void grow() {
        while (lanes.size() < queue.lanes()) {
            final int number = lanes.size();
            lanes.add(new DigestedLane(
                    number,
                    queue.lane(number),
                    new LandingCursor(settings, queue.lane(number)),
                    new LandedTracker(segments, replicas)));
        }
    }

    int count() {
        return lanes.size();
    }

    DigestedLane get(int number) {
        return lanes.get(number);
    }

    /** The position after everything landed so far. */
    LandingPosition landed() {
        grow();
        final LandingPosition mark = new LandingPosition(lanes.size());
        for (DigestedLane lane : lanes) {
            lane.mark(mark);
        }
        return mark;
    }

    /** Whether every lane was read up to that position. */
    boolean isBehind(LandingPosition mark) {
        for (int i = 0; i < mark.lanes(); i++) {
            if (!lanes.get(i).isBehind(mark)) {
                return false;
            }
        }
        return true;
    }

    /** Whether the last poll of a lane ended at an unpublished reservation. */
    boolean isAtHole() {
        for (int i = 0; i < lanes.size(); i++) {
            if (lanes.get(i).cursor().isAtHole()) {
                return true;
            }
        }
        return false;
    }

    /** Commits what can be committed; returns the number of segments. */
    int commit() {
        int committed = 0;
        for (int i = 0; i < lanes.size(); i++) { // in every cycle: an iterator would be garbage
            final LandedTracker tracker = lanes.get(i).tracker();
            committed += tracker.usedCount() > 0 ? tracker.commit() : 0;
        }
        return committed;
    }

    /** Whether digested segments are not committed yet. */
    boolean awaitCommit() {
        for (int i = 0; i < lanes.size(); i++) {
            if (lanes.get(i).tracker().usedCount() > 0) {
                return true;
            }
        }
        return false;
    }

    /** The block may be of any lane: an entry is assembled when the last of its blocks was read. */
    void blockDone(int segment) {
        for (int i = 0; i < lanes.size(); i++) {
            if (lanes.get(i).tracker().blockDone(segment)) {
                return;
            }
        }
        throw new AssertionError("block in segment " + segment + ", which is not tracked");
    }
}
