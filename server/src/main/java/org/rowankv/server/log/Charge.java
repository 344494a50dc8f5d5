package org.rowankv.server.log;

/**
 * What an entry is charged for space. A small entry its length; one that is not small against a segment its share of a
 * segment filled with nothing but its like, since what is left over at a segment's end is lost with it. So whatever the
 * sizes, live entries that are admitted fit the segments there are.
 */
public final class Charge {
    /** Up to this part of a segment the rest at its end is not worth counting. */
    private static final int SMALL = 32;

    private Charge() {}

    /** @param length of the entry, whole strides, at most one segment */
    public static int of(int length, int segmentLength) {
        return length <= segmentLength / SMALL ? length : segmentLength / (segmentLength / length);
    }
}
