package org.rowankv.server.index;

/**
 * A word of an index: the tag, which is the first 24 bits of a key's position in the order in which an index that grows
 * takes them, and the address of the key's newest entry. 0 is no item.
 */
public final class IndexItem {
    static final int TAG_BITS = 24;

    private static final int TAG_MASK = (1 << TAG_BITS) - 1;
    private static final int ADDRESS_BITS = 64 - TAG_BITS;
    private static final long ADDRESS_MASK = (1L << ADDRESS_BITS) - 1;
    private static final int STRIDE_SHIFT = 6;

    private IndexItem() {}

    static int tagAt(long position) {
        return (int) Long.reverse(position) & TAG_MASK;
    }

    static long of(int tag, long address) {
        return (long) tag << ADDRESS_BITS | address >>> STRIDE_SHIFT;
    }

    static int tag(long item) {
        return (int) (item >>> ADDRESS_BITS);
    }

    /** The address that an item holds. */
    public static long address(long item) {
        return (item & ADDRESS_MASK) << STRIDE_SHIFT;
    }

    /** The position of an item's key, in its first 24 bits only: enough to find the item again. */
    public static long position(long item) {
        return Long.reverse(tag(item));
    }
}
