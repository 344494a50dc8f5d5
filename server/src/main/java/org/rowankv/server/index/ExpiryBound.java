package org.rowankv.server.index;

import java.nio.ByteBuffer;
import org.rowankv.server.log.EntryDescriptor;

/**
 * The second before which nothing in a bucket expires: seconds since 1970, rounded up, so that something has expired
 * once the bound is reached. Kept in the upper half of the bucket's link word, which the link does not need. A lower
 * bound: a replacement or removal does not raise it; a visitor of the whole bucket may.
 */
public final class ExpiryBound {
    /** Nothing in the bucket ever expires. */
    public static final long NEVER = Long.MAX_VALUE;

    private static final int SHIFT = 32;
    private static final long LOWER_HALF = (1L << SHIFT) - 1;
    /** In the year 2106, the last second of the field: such a bucket is visited then, repeatedly. */
    private static final long MAX = LOWER_HALF;

    private ExpiryBound() {}

    /** The bound of an object with that expiry. */
    public static long of(long expiryMs) {
        if (expiryMs == Long.MAX_VALUE) {
            return NEVER;
        }
        return Math.min(MAX, Math.max(1, Math.floorDiv(expiryMs, 1000) + (Math.floorMod(expiryMs, 1000) > 0 ? 1 : 0)));
    }

    static long of(ByteBuffer entry, int at) {
        return of(EntryDescriptor.expiryMs(entry, at, EntryDescriptor.flags(entry, at)));
    }

    /** From a link word; 0 stands for never, so that an empty word is an empty bucket. */
    static long in(long linkWord) {
        final long stored = linkWord >>> SHIFT;
        return stored == 0 ? NEVER : stored;
    }

    static long with(long linkWord, long bound) {
        return linkWord & LOWER_HALF | (bound == NEVER ? 0 : bound << SHIFT);
    }

    static long withLink(long linkWord, long link) {
        return linkWord & ~(long) ReferenceBits.MAX_LINK | link;
    }
}
