package org.rowankv.server.shard;

import java.nio.ByteBuffer;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;

/**
 * Counts one shard's entries that the index no longer points to, so that the cleaner can free their space. Each counts
 * as dead, unless it is a tombstone, its response may still be requested, or it is damaged. Returns the freed space in
 * bytes.
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
     * The entry at that address is no longer its key's newest. A tombstone is kept until its horizon; an entry whose
     * response may be requested, until its completion is forgotten. An entry with a damaged header (length 0) frees
     * nothing: its space is freed with its segment.
     */
    int of(long address, int length) {
        if (length == 0 || EntryType.isTombstone(typeAt(address))) {
            return 0;
        }
        return deadUnlessKept(
                segments.region().buffer(address), segments.region().offset(address), address, length);
    }

    /** The session opened by the entry at that address has ended. */
    public int ofOpening(long address) {
        final int length;
        synchronized (sessionCheck) {
            length = sessionCheck.soundLength(segments, address);
        }
        return of(address, length);
    }

    /** Counts an entry dead that the index does not point to, unless its completion is needed or it is damaged. */
    public int deadUnlessKept(ByteBuffer entry, int at, long address, int length) {
        if (isLost(address)) {
            return 0; // its length is unreliable, and its segment stays as it is
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

    /** The length of the entry at an address, 0 if its header is damaged. Requires the index's lock. */
    int soundLength(long address) {
        return check.soundLength(segments, address);
    }

    /** Whether the entry at an address is whole; if not, it is repaired. Requires the index's lock. */
    boolean isSound(long address) {
        return check.isSound(segments, address);
    }

    /** The charge of the object at an address that the index points to; 0 unless an intact object lies there. */
    int objectCharge(long address, int length) {
        return length > 0 && EntryType.holdsObject(typeAt(address)) ? segments.charge(length) : 0;
    }

    long versionAt(long address) {
        return EntryDescriptor.version(
                segments.region().buffer(address), segments.region().offset(address));
    }

    /** Whether the entry at that address is a known damaged one: nothing in it is reliable. */
    boolean isLost(long address) {
        return segments.damage().isLost(address, segments.generation(segments.segmentOf(address)));
    }

    private int typeAt(long address) {
        return FrameDescriptor.type(FrameDescriptor.wordPlain(
                segments.region().buffer(address), segments.region().offset(address)));
    }
}
