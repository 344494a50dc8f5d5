package org.rowankv.server.index;

/**
 * The reference bits of a bucket's items: one for each of the seven, in the bucket's link word between the link and the
 * expiry bound. Set only by readers of caches with a limit, so reads of other caches write nothing.
 */
final class ReferenceBits {
    private static final int SHIFT = 25;

    /** The largest link: 2^25 − 1 overflow buckets, with which a shard has more than 200 million objects. */
    static final int MAX_LINK = (1 << SHIFT) - 1;

    private ReferenceBits() {}

    /** The link in a link word: an overflow bucket's number plus one, or 0. */
    static int linkIn(long linkWord) {
        return (int) linkWord & MAX_LINK;
    }

    static boolean isSet(long linkWord, int slot) {
        return (linkWord >>> SHIFT + slot & 1) != 0;
    }

    static long with(long linkWord, int slot) {
        return linkWord | 1L << SHIFT + slot;
    }

    static long without(long linkWord, int slot) {
        return linkWord & ~(1L << SHIFT + slot);
    }
}
