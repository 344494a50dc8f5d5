package org.rowankv.server.inspect;

import java.util.List;
import java.util.Map;
import org.rowankv.server.area.SuperblockReading;

/**
 * What lies in the area of one server.
 *
 * @param entries valid ones of each type, void ones included
 * @param voidEntries of a tenure that is over
 * @param objects that are there
 * @param expiring those of them that have a lifetime, over or not
 * @param inBlocks those of them that lie there in blocks only
 * @param tombstones deletions, clears and closed sessions that are still in the log
 * @param openSessions sessions that are open at one shard at least
 * @param completions answers that clients may still ask for
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
        long tombstones,
        int openSessions,
        long completions,
        int damagedPlaces) {
    /** Valid entries of all types. */
    public long entryCount() {
        return entries.values().stream().mapToLong(Long::longValue).sum();
    }
}
