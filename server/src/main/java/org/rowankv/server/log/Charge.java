package org.rowankv.server.log;

/**
 * The space charged for an entry. A small entry: its length. One that is large against a segment: its share of a
 * segment filled with entries of that size, since the rest at a segment's end is lost. So admitted live entries fit the
 * segments, whatever their sizes.
 */
public final class Charge {
    /** Up to this fraction of a segment, the rest at its end is negligible. */
    private static final int SMALL = 32;

    private Charge() {}

    /** @param length of the entry, whole strides, at most one segment */
    public static int of(int length, int segmentLength) {
        return length <= segmentLength / SMALL ? length : segmentLength / (segmentLength / length);
    }
}
