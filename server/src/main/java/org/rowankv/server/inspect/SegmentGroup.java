package org.rowankv.server.inspect;

/**
 * The segments of one server that are in one state and have one owner. The bytes are as far as a reader without index can
 * tell: live is the newest version of each object and the opening of each open session.
 *
 * @param state and owner as the meta table has them, in lower case; "unknown" where its line is damaged
 * @param tombstoneBytes of entries that only say that something older is over
 * @param deadBytes of entries that are passed, or belong to a tenure that is over
 * @param emptyBytes where no entry is
 */
public record SegmentGroup(
        String state,
        String owner,
        int segments,
        long liveBytes,
        long tombstoneBytes,
        long deadBytes,
        long emptyBytes) {}
