package org.rowankv.server.shard;

import java.nio.ByteBuffer;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;

/**
 * The entries of one shard that the index does not point to any more: each is counted dead, unless it is a tombstone, its answer may
 * be asked for, or it is damaged. Returns, as bytes, the space that comes back.
 */
public final class SupersededEntries {
    private final Segments segments;
    /** Guarded by the index's lock. */
    private final EntryCheck check;
    /** Guarded by its monitor. */
    private final EntryCheck sessionCheck;

    private final ShardSessions sessions;

    SupersededEntries(Segments segments, ShardSessions sessions) {
        this.segments = segments;
        this.sessions = sessions;
        this.check = new EntryCheck(segments.region());
        this.sessionCheck = new EntryCheck(segments.region());
    }

    int dead(long address, int length) {
        return segments.markDead(address, length);
    }

    /**
     * The entry at that address is no longer its key's newest. A tombstone is kept all the same, until its horizon; an
     * entry whose answer may be asked for, until its completion is forgotten. One with a damaged header (length 0) gives nothing
     * back: its space comes free with its segment.
     */
    int of(long address, int length) {
        if (length == 0 || EntryType.isTombstone(typeAt(address))) {
            return 0;
        }
        return deadUnlessKept(
                segments.region().buffer(address), segments.region().offset(address), address, length);
    }

    /** The session that the entry at that address opened is over. */
    int ofOpening(long address) {
        final int length;
        synchronized (sessionCheck) {
            length = sessionCheck.soundLength(segments, address);
        }
        return of(address, length);
    }

    /** Counts an entry dead that the index does not point to, unless its completion is needed, or it is damaged. */
    public int deadUnlessKept(ByteBuffer entry, int at, long address, int length) {
        if (isLost(address)) {
            return 0; // its length is not to be trusted, and its segment stays as it is
        }
        final int flags = EntryDescriptor.flags(entry, at);
        final long sequence = EntryDescriptor.sequence(entry, at, flags);
        if (sequence == 0) {
            return dead(address, length);
        }
        final long sessionId = EntryDescriptor.sessionId(entry, at, flags);
        if (!sessions.of(sessionId).keep(sessionId, sequence, address, length)) {
            return dead(address, length);
        }
        segments.markKept(address);
        return 0;
    }

    /** The length of the entry at an address, 0 if its header is damaged. For the holder of the index's lock. */
    int soundLength(long address) {
        return check.soundLength(segments, address);
    }

    /** What the object at an address that the index points to is charged; 0 if no object lies there that is whole. */
    int objectCharge(long address, int length) {
        return length > 0 && EntryType.holdsObject(typeAt(address)) ? segments.charge(length) : 0;
    }

    long versionAt(long address) {
        return EntryDescriptor.version(
                segments.region().buffer(address), segments.region().offset(address));
    }

    /** Whether the entry at that address is known to be damaged, so that nothing in it is to be believed. */
    boolean isLost(long address) {
        return segments.damage().isLost(address, segments.generation(segments.segmentOf(address)));
    }

    private int typeAt(long address) {
        return FrameDescriptor.type(FrameDescriptor.wordPlain(
                segments.region().buffer(address), segments.region().offset(address)));
    }
}
