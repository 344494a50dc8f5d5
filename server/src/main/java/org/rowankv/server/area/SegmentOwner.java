package org.rowankv.server.area;

/** The component that places entries in a segment during its present use. */
public enum SegmentOwner {
    /** None: the segment is free. */
    NONE,
    /** A worker: the segment belongs to its t-log. */
    WORKER,
    /** Remote senders: the segment belongs to the b-log. */
    BACKUP,
    /** The cleaner, which moves live entries into it. */
    CLEAN,
    /** The receiver of a shard that migrates here. */
    MIGRATION;

    private static final SegmentOwner[] VALUES = values();

    static SegmentOwner of(int code) {
        return VALUES[code];
    }

    static boolean isCode(int code) {
        return code >= 0 && code < VALUES.length;
    }
}
