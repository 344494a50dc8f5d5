package org.rowankv.server.inspect;

import java.util.List;
import java.util.Map;
import org.rowankv.server.area.SuperblockReading;

/**
 * The content of one server's area.
 *
 * @param entries valid ones of each type, void ones included
 * @param voidEntries of an ended tenure
 * @param objects that are present, parts of values not included
 * @param expiring those of them with a lifetime, expired or not
 * @param inBlocks those of them that lie there in blocks only
 * @param parts of values that are present
 * @param partedValues values in parts
 * @param orphans values whose parts are present and which are not: the next start removes the parts
 * @param tombstones deletions, clears and closed sessions that are still in the log
 * @param openSessions sessions that are open at one shard at least
 * @param completions responses that clients may still request
 * @param damagedPlaces found in its files
 */
public record ServerContents(
        int server,
        String file,
        SuperblockReading superblock,
        List<SegmentGroup> segments,
        Map<String, Long> entries,
        long voidEntries,
        long objects,
        long expiring,
        long inBlocks,
        long parts,
        long partedValues,
        long orphans,
        long tombstones,
        int openSessions,
        long completions,
        int damagedPlaces) {
    /** Valid entries of all types. */
    public long entryCount() {
        return entries.values().stream().mapToLong(Long::longValue).sum();
    }
}
