package org.rowankv.server.inspect;

/**
 * The segments of one server in one state with one owner. Byte counts are as accurate as possible without an index:
 * live is the newest version of each object and the opening of each open session.
 *
 * @param state and owner as in the meta table, in lower case; "unknown" where its line is damaged
 * @param tombstoneBytes of entries that only end something older
 * @param deadBytes of entries that are superseded, or belong to an ended tenure
 * @param emptyBytes without an entry
 */
public record SegmentGroup(
        String state,
        String owner,
        int segments,
        long liveBytes,
        long tombstoneBytes,
        long deadBytes,
        long emptyBytes) {}
