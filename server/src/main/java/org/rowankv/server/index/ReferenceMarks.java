package org.rowankv.server.index;

/**
 * Which objects of an index were used lately: a mark for each, in the {@link ReferenceBits} of its bucket. Any thread, no lock.
 *
 * <p>A mark is a hint: one that meets a change of the bucket may be lost.
 */
public final class ReferenceMarks {
    private static final int SET = 1;
    private static final int CLEAR = 2;

    private final BucketTable table;

    ReferenceMarks(BucketTable table) {
        this.table = table;
    }

    /** Notes that the object at that address was used. */
    public void mark(long position, long address) {
        reference(position, address, SET);
    }

    /** Whether the object at that address was used since its mark was taken away, or since it came. */
    public boolean isMarked(long position, long address) {
        return reference(position, address, 0);
    }

    /** Takes the mark of the object at that address away. */
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
                        // Exactly the word that was read: a link or a bound that was written meanwhile stays.
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

    /** Clears the mark of a slot for the holder of the index's lock; a mark that a reader sets just now may be lost. */
    static void clear(long[] words, int slot) {
        final int linkAt = slot | Chunks.ITEMS; // a bucket begins at a multiple of eight
        final long word = words[linkAt];
        if (ReferenceBits.isSet(word, slot & Chunks.ITEMS)) {
            Chunks.WORD.setRelease(words, linkAt, ReferenceBits.without(word, slot & Chunks.ITEMS));
        }
    }
}
