package org.rowankv.server.digest;

import org.rowankv.rdma.LandingLane;
import org.rowankv.rdma.rowan.LandingCursor;

/** One lane of the backup log, and how far it is digested. Owned by the digest agent. */
record DigestedLane(int number, LandingLane lane, LandingCursor cursor, LandedTracker tracker) {

    /** Records the position after everything landed in it so far. */
    void mark(LandingPosition mark) {
        final long ordinal = lane.currentOrdinal();
        mark.set(number, ordinal, lane.landedLimit(ordinal));
    }

    boolean isBehind(LandingPosition mark) {
        final long ordinal = mark.ordinal(number);
        return cursor.ordinal() > ordinal || cursor.ordinal() == ordinal && cursor.offset() >= mark.offset(number);
    }
}
