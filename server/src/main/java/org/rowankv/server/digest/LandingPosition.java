package org.rowankv.server.digest;

/** A position in the backup log, in order of landing: one in each lane. Immutable once it is published. */
public final class LandingPosition {
    private final long[] ordinals;
    private final int[] offsets;

    LandingPosition(int lanes) {
        this.ordinals = new long[lanes];
        this.offsets = new int[lanes];
    }

    /** Of a backup log with one lane. */
    public static LandingPosition of(long ordinal, int offset) {
        final LandingPosition position = new LandingPosition(1);
        position.set(0, ordinal, offset);
        return position;
    }

    void set(int lane, long ordinal, int offset) {
        ordinals[lane] = ordinal;
        offsets[lane] = offset;
    }

    /** Lanes at that time. In later ones, nothing had landed. */
    public int lanes() {
        return ordinals.length;
    }

    /** Of the segment being landed in. */
    public long ordinal(int lane) {
        return ordinals[lane];
    }

    /** Bytes before it in that segment. */
    public int offset(int lane) {
        return offsets[lane];
    }
}
