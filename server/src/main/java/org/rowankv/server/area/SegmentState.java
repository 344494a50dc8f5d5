package org.rowankv.server.area;

/**
 * The life cycle of a segment: free → using → (used →) committed → free. Worker, clean and migration segments may skip
 * {@code USED}; a segment opened but not written may return from using to free.
 */
public enum SegmentState {
    /** Holds nothing that counts. */
    FREE,
    /** Entries are being placed in it. */
    USING,
    /** Full or closed, but not all of its entries are known to be on all replicas, or digested. */
    USED,
    /** Every entry in it is on all replicas and, in a backup segment, applied to the index. May be cleaned. */
    COMMITTED;

    private static final SegmentState[] VALUES = values();

    static SegmentState of(int code) {
        return VALUES[code];
    }

    static boolean isCode(int code) {
        return code >= 0 && code < VALUES.length;
    }

    /** Whether the life cycle has this transition. */
    boolean mayBecome(SegmentState next) {
        return switch (this) {
            case FREE -> next == USING;
            case USING -> next == USED || next == COMMITTED || next == FREE;
            case USED -> next == COMMITTED;
            case COMMITTED -> next == FREE;
        };
    }
}
