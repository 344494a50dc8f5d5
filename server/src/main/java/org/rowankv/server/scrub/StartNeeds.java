package org.rowankv.server.scrub;

import java.util.function.IntToLongFunction;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;

/**
 * Whether a start would need a damaged entry to which no index refers. What the entry says of itself, beside its type, is
 * not believed. Used by the scrubber's thread.
 */
final class StartNeeds {
    /** What a start needs it for. */
    enum Need {
        /** Nothing. */
        NONE,
        /**
         * It is a tombstone, and all that it may have ended is gone from other segments. What is left in its own goes with
         * it, when the segment is cleaned.
         */
        OWN_SEGMENT,
        UNKNOWN
    }

    private final Segments segments;
    private final Replicas replicas;
    private final EntryCheck check;
    private final IntToLongFunction horizonWithout;

    /** @param horizonWithout the tombstone horizon of all segments but one, or 0 while it is unknown */
    StartNeeds(Segments segments, Replicas replicas, IntToLongFunction horizonWithout) {
        this.segments = segments;
        this.replicas = replicas;
        this.check = new EntryCheck(segments.region());
        this.horizonWithout = horizonWithout;
    }

    /** @param since a segment's number: the entry was written before the next one was opened; 0: unknown */
    Need of(long address, long since) {
        final int type = typeOf(address);
        if (type == EntryType.COMMIT_VECTOR || type == EntryType.BLOCK) {
            return Need.NONE;
        }
        if (isAnswerNeeded(address)) {
            return Need.UNKNOWN;
        }
        return switch (type) {
            case EntryType.PUT, EntryType.TOUCH, EntryType.SESSION_OPEN, EntryType.COMPLETION -> Need.NONE;
            case EntryType.DELETE, EntryType.CLEAR, EntryType.SESSION_CLOSE ->
                since != 0 && horizonWithout.applyAsLong(segments.segmentOf(address)) > since
                        ? Need.OWN_SEGMENT
                        : Need.UNKNOWN;
            default -> Need.UNKNOWN;
        };
    }

    /** Its type; before the flip, if one bit has made another type of it: a tombstone would look like an object, which may go. */
    int typeOf(long address) {
        final int segment = segments.segmentOf(address);
        final int generation = segments.generation(segment);
        final long end = segments.area().addressOf(segment) + segments.length();
        final int type = FrameDescriptor.type(FrameDescriptor.wordAcquire(
                segments.region().buffer(address), segments.region().offset(address)));
        final int before = check.whyFrameInvalid(address, end, generation) == null
                ? 0
                : check.typeBeforeAFlip(address, end, generation);
        return before == 0 ? type : before;
    }

    private boolean isAnswerNeeded(long address) {
        return replicas.all().stream().anyMatch(replica -> replica.sessions().refersTo(address));
    }
}
