package org.rowankv.server.engine;

/**
 * What one server has done since its start and holds now; bytes unless said otherwise.
 *
 * @param tLogBytes entries its workers wrote to their t-logs
 * @param bLogBytes entries digested from its backup log
 * @param relocatedBytes live entries its cleaner copied
 * @param cleanedSegments segments freed by the cleaner
 * @param tombstonesDropped tombstones dropped by the cleaner
 * @param spaceLimit what live entries may take
 * @param spaceAvailable of that, what is neither taken nor granted to a worker
 * @param segments by state
 * @param segmentLength of one
 * @param indexBytes DRAM of the indexes
 * @param indexEntries items in them
 * @param expiredObjects whose end by lifetime was logged here, on the primary
 * @param sweptObjects of those, found by the sweep and not by a request
 * @param evictedObjects ended here, on the primary, because their caches were above their limits
 * @param holesFenced senders cut off because they left a reservation unfinished
 * @param reconnects connections to backups made anew after a fence
 * @param notReady times an append found no posted segment
 * @param settled whether digest and the sweep behind clears had nothing left to do at their last turn
 * @param scrubbedBytes bytes of committed segments that were read again
 * @param scrubRounds times that all of them were
 * @param badEntries entries found damaged, dead ones included
 * @param replacedEntries of those, taken from another replica
 * @param lostEntries of those, needed and on no other replica
 * @param commitLag versions given out and not covered by CommitVer yet, of all shards whose primary it is
 * @param creditRefusals times that a backup granted less credit than an entry needed
 * @param openSessions of clients, at all shards' replicas here
 * @param endedSessions of those, at shards whose primary it is: ended because no request used them, or to give their places to others
 * @param turns of its agents
 * @param pinnedSegments that a copy or a comparison reads, so that the cleaner leaves them alone
 */
public record ServerStatistics(
        int serverId,
        long tLogBytes,
        long bLogBytes,
        long relocatedBytes,
        long cleanedSegments,
        long tombstonesDropped,
        long spaceLimit,
        long spaceAvailable,
        SegmentCounts segments,
        int segmentLength,
        long indexBytes,
        long indexEntries,
        long expiredObjects,
        long sweptObjects,
        long evictedObjects,
        long holesFenced,
        long reconnects,
        long notReady,
        boolean settled,
        long scrubbedBytes,
        long scrubRounds,
        long badEntries,
        long replacedEntries,
        long lostEntries,
        long commitLag,
        long creditRefusals,
        long openSessions,
        long endedSessions,
        long turns,
        int pinnedSegments) {}
