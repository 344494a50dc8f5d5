package org.rowankv.server.log;

/**
 * The encoding of a copied tombstone's stamp in its frame: 32 bits, the signed distance from the number of the copy's
 * segment. Numbers have 64 bits, so neither they nor stamps ever wrap.
 *
 * <p>A stamp precedes its segment's number by as much as the tombstone is old. A distance below the field's range
 * becomes the smallest: then the tombstone counts as younger than it is, and stays longer than needed, never shorter. A
 * stamp is ahead of the number if segments were opened after the copy's own. A cleaner closes its segment before those
 * are {@value #MOST_AHEAD}.
 */
final class TombstoneStamp {
    /** The field of a frame without a stamp. */
    static final int NONE = 0;

    static final int MOST_AHEAD = 1 << 30;
    /** Keeps every distance different from {@link #NONE}. */
    private static final int BIAS = Integer.MIN_VALUE;

    private static final int MOST_BEHIND = Integer.MIN_VALUE + 1;

    private TombstoneStamp() {}

    /** Whether a segment of that number can hold copies with stamps up to {@code lastSequence}. */
    static boolean canEncode(long lastSequence, long sequence) {
        return lastSequence - sequence <= MOST_AHEAD;
    }

    /** The field of a copy in a segment of that number. */
    static int field(long stamp, long sequence) {
        if (stamp <= 0 || sequence <= 0 || !canEncode(stamp, sequence)) {
            throw new AssertionError("stamp " + stamp + " in segment number " + sequence);
        }
        return (int) Math.max(stamp - sequence, MOST_BEHIND) ^ BIAS;
    }

    /** The stamp that a field decodes to; never smaller than the encoded one. */
    static long stamp(int field, long sequence) {
        return sequence + (field ^ BIAS);
    }
}
