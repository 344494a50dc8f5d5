package org.rowankv.server.opening;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * The entries of the replicas' tails in this server's log: reads them for other replicas, and adds those that only other
 * replicas have. Owned by the opening agent.
 */
final class TailEntries {
    private static final int LOCK_OWNER = (1 << 20) + 8;
    /** A horizon that precedes everything: an added entry may be older than tombstones found here. */
    private static final int OLDEST = 1;

    private final Segments segments;
    private final EntryCheck check;
    private final AppendLog log;
    private byte[] keyScratch = new byte[256];
    /** Covers all entries added. */
    private long ticket;

    TailEntries(Segments segments) {
        this.segments = segments;
        this.check = new EntryCheck(segments.region());
        this.log = new AppendLog(segments, SegmentOwner.CLEAN, segments.cleanerReserve());
    }

    /**
     * The address of an entry of the tail, 0 if there is none with that version.
     *
     * @throws AssertionError if it is damaged: others would get it as what was written. This server stops, and no start
     *     believes its area
     */
    long addressOf(ShardReplica replica, long version) {
        final long address = replica.tail().addressOf(version);
        if (address == 0) {
            return 0;
        }
        final int segment = segments.segmentOf(address);
        final String reason = check.whyInvalid(
                address, segments.area().addressOf(segment) + segments.length(), segments.generation(segment));
        if (reason != null || EntryDescriptor.version(buffer(address), offset(address)) != version) {
            segments.area().superblock().markIncomplete();
            throw new AssertionError("an entry of shard " + replica.shardId() + " that may not be on all replicas was"
                    + " damaged in segment " + segment + " of server "
                    + segments.area().serverId() + ": " + reason);
        }
        return address;
    }

    ByteBuffer buffer(long address) {
        return segments.region().buffer(address);
    }

    int offset(long address) {
        return segments.region().offset(address);
    }

    /** Of the entry at an address, with its padding. */
    int length(long address) {
        return FrameDescriptor.length(FrameDescriptor.wordPlain(buffer(address), offset(address)));
    }

    /** A copy of the entry with that version, or null. */
    @Nullable
    ByteBuffer copyOf(ShardReplica replica, long version) {
        final long address = addressOf(replica, version);
        if (address == 0) {
            return null;
        }
        final int length = length(address);
        return ByteBuffer.allocate(length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(0, buffer(address), offset(address), length);
    }

    /** Adds a valid entry that this replica lacks; false if there is no room now. */
    boolean add(ShardReplica replica, ByteBuffer entry) {
        final long word = FrameDescriptor.wordPlain(entry, 0);
        final int type = FrameDescriptor.type(word);
        final int length = FrameDescriptor.length(word);
        if (!log.ensureRoom(length, OLDEST)) {
            return false;
        }
        segments.space().take(segments.charge(length)); // it was acquired when the entry was first written
        final long address = log.appendCopy(entry, 0, length, type, replica.tenure(), 0);
        ticket = log.request();
        final long version = EntryDescriptor.version(entry, 0);
        replica.versions().raiseAssembled(version);
        replica.tail().copied(version, address);
        final int keyLength = EntryDescriptor.keyLength(entry, 0);
        if (keyLength > keyScratch.length) {
            keyScratch = new byte[Math.max(keyLength, 2 * keyScratch.length)];
        }
        final long position = EntryType.isKeyed(type) ? replica.positionOf(entry, 0, keyScratch) : 0;
        segments.space().release(replica.apply(LOCK_OWNER, position, address, type, length));
        return true;
    }

    /** Whether everything added is persistent, at the area's durability level. */
    boolean isForced() {
        return log.isForced(ticket);
    }

    /** Nothing is added for a while. */
    void retire() {
        log.retire();
    }
}
