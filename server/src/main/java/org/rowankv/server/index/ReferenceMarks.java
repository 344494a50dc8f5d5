package org.rowankv.server.index;

/**
 * The reference marks of an index's objects, used for eviction: a mark for each, in the {@link ReferenceBits} of its
 * bucket. Any thread, no lock.
 *
 * <p>A mark is a hint: it may be lost when its bucket changes concurrently.
 */
public final class ReferenceMarks {
    private static final int SET = 1;
    private static final int CLEAR = 2;

    private final BucketTable table;

    ReferenceMarks(BucketTable table) {
        this.table = table;
    }

    /** Marks the object at that address as used. */
    public void mark(long position, long address) {
        reference(position, address, SET);
    }

    /** Whether the object at that address was used since its mark was cleared, or since its insertion. */
    public boolean isMarked(long position, long address) {
        return reference(position, address, 0);
    }

    /** Clears the mark of the object at that address. */
    public void unmark(long position, long address) {
        reference(position, address, CLEAR);
    }

    private boolean reference(long position, long address, int change) {
        final int tag = IndexItem.tagAt(position);
        final long item = IndexItem.of(tag, address);
        long[][] chunks = table.chunks();
        int bucket = table.bucketOf(tag);
        while (Chunks.exists(chunks, bucket)) {
            final long[] words = Chunks.of(chunks, bucket);
            final int base = Chunks.word(bucket);
            final int linkAt = base + Chunks.ITEMS;
            final long word = (long) Chunks.WORD.getAcquire(words, linkAt);
            for (int i = base; i < linkAt; i++) {
                if ((long) Chunks.WORD.getAcquire(words, i) == item) {
                    final boolean isSet = ReferenceBits.isSet(word, i - base);
                    if (change != 0 && isSet != (change == SET)) {
                        // Compares with exactly the word that was read: a concurrent change of link or bound stays.
                        final long changed = change == SET
                                ? ReferenceBits.with(word, i - base)
                                : ReferenceBits.without(word, i - base);
                        Chunks.WORD.compareAndSet(words, linkAt, word, changed);
                    }
                    return isSet;
                }
            }
            bucket = ReferenceBits.linkIn(word) - 1;
            if (bucket < 0) {
                return false;
            }
            chunks = table.overflowChunks();
        }
        return false;
    }

    /** Clears the mark of a slot; requires the index's lock. A mark that a reader sets concurrently may be lost. */
    static void clear(long[] words, int slot) {
        final int linkAt = slot | Chunks.ITEMS; // a bucket begins at a multiple of eight
        final long word = words[linkAt];
        if (ReferenceBits.isSet(word, slot & Chunks.ITEMS)) {
            Chunks.WORD.setRelease(words, linkAt, ReferenceBits.without(word, slot & Chunks.ITEMS));
        }
    }
}
