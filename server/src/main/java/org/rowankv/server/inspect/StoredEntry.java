package org.rowankv.server.inspect;

import java.util.List;
import org.rowankv.server.log.EntryDescriptor;

/**
 * One entry as a tool finds it in an area.
 *
 * @param place where it begins; for an entry in blocks only, where one of them does
 * @param blocks the places of its blocks, if it lies there in blocks only
 * @param type of {@link org.rowankv.server.log.EntryType}
 * @param objectVersion by which clients identify the object: the entry's own unless it is a touch
 * @param valueCrc checksum of the value alone
 * @param expiryMs wall-clock milliseconds, or Long.MAX_VALUE for never
 * @param flags presence flags, and the result bits of the operation
 * @param alsoClosed of the end of a session: other sessions that end with it
 * @param isVoid whether it belongs to an ended tenure: then it does not count
 */
@SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, never compared
public record StoredEntry(
        Place place,
        List<Place> blocks,
        int type,
        int shard,
        long version,
        long objectVersion,
        int cacheId,
        byte[] key,
        int valueLength,
        int valueCrc,
        long expiryMs,
        int flags,
        long sessionId,
        long sequence,
        int unanswered,
        List<Long> alsoClosed,
        boolean isVoid) {
    /**
     * The place of an entry, or of a block.
     *
     * @param fileOffset in the area's file
     * @param length with its padding
     */
    public record Place(int segment, long fileOffset, int length) {}

    public boolean isInBlocks() {
        return !blocks.isEmpty();
    }

    public boolean expires() {
        return (flags & EntryDescriptor.HAS_EXPIRY) != 0;
    }

    /** All its places. */
    List<Place> places() {
        return blocks.isEmpty() ? List.of(place) : blocks;
    }
}
