package org.rowankv.server.engine;

/**
 * Counters of one server since its start, and its present state; in bytes unless stated otherwise.
 *
 * @param tLogBytes entries written by its workers to their t-logs
 * @param bLogBytes entries digested from its backup log
 * @param relocatedBytes live entries copied by its cleaner
 * @param cleanedSegments segments freed by the cleaner
 * @param tombstonesDropped tombstones dropped by the cleaner
 * @param spaceLimit limit of live entries
 * @param spaceAvailable part of the limit that is neither taken nor granted to a worker
 * @param segments by state
 * @param segmentLength of one
 * @param indexBytes DRAM of the indexes
 * @param indexEntries items in them
 * @param expiredObjects objects whose expiry was logged here, on the primary
 * @param sweptObjects the part of them found by the sweep, not by a request
 * @param evictedObjects ended here, on the primary, because their caches were above their limits
 * @param holesFenced senders fenced because of an unfinished reservation
 * @param reconnects connections to backups re-established after a fence
 * @param notReady times an append found no posted segment
 * @param settled whether digest and clear sweep had no work left in their last cycle
 * @param scrubbedBytes bytes of committed segments read by the scrubber
 * @param scrubRounds complete passes of the scrubber
 * @param badEntries entries found damaged, dead ones included
 * @param replacedEntries the part of them repaired from another replica
 * @param lostEntries the part of them that was needed and is on no other replica
 * @param commitLag versions assigned and not covered by CommitVer yet, of all its primary shards
 * @param creditRefusals times that a backup granted less credit than an entry needed
 * @param openSessions of clients, at all shards' replicas here
 * @param endedSessions at its primary shards: ended because they were unused, or to make room for others
 * @param agentCycles duty cycles of its agents
 * @param pinnedSegments being read by a snapshot or a comparison, so that the cleaner skips them
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
        long agentCycles,
        int pinnedSegments) {}
