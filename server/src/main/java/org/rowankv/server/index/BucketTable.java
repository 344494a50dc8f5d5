package org.rowankv.server.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The buckets of one index, and their growth by linear hashing: each split divides one bucket by one more bit of its
 * items' tags.
 *
 * <p>Owned by its index, whose lock its writers hold. Readers take no lock: {@link #moves} is odd while items move, and
 * increases with each move. So a reader without a result checks it.
 */
final class BucketTable {
    private static final int ITEMS = Chunks.ITEMS;
    // Items per bucket before the next split, times 4: 21/4 = 5.25 of 7 keeps the table at 12 to 15 bytes per item.
    private static final int LOAD_TIMES_4 = 21;

    private static final VarHandle WORD = Chunks.WORD;
    private static final VarHandle MOVES;

    static {
        try {
            MOVES = MethodHandles.lookup().findVarHandle(BucketTable.class, "moves", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // Replaced by longer copies; published by `shape`'s release and by `moves`.
    private volatile long[][] buckets = {new long[Chunks.WORDS << Chunks.MIN_LEVEL]};
    private final OverflowBuckets overflow = new OverflowBuckets();
    /** {@code level << 32 | split}: buckets below split are already divided. */
    private volatile long shape = (long) Chunks.MIN_LEVEL << 32;

    @SuppressWarnings("unused") // through MOVES
    private int moves;

    /** Buffer of a split. */
    private long[] moving = new long[4 * ITEMS];

    private boolean[] movingMarks = new boolean[4 * ITEMS];

    /** @param firstMoves an even number, at which the count of moves begins */
    BucketTable(int firstMoves) {
        this.moves = firstMoves;
    }

    /** The chunks of the buckets that a tag selects. A reader loads them before {@link #bucketOf}. */
    long[][] chunks() {
        return buckets;
    }

    /** The chunks of the buckets that a link references. */
    long[][] overflowChunks() {
        return overflow.chunks();
    }

    int moves() {
        return (int) MOVES.getAcquire(this);
    }

    private void countMove() {
        MOVES.setVolatile(this, (int) MOVES.getVolatile(this) + 1);
    }

    int bucketOf(int tag) {
        final long shapeNow = shape;
        final int level = (int) (shapeNow >>> 32);
        final int bucket = tag & ((1 << level) - 1);
        return bucket < (int) shapeNow ? tag & ((2 << level) - 1) : bucket;
    }

    /** The position after the range of the bucket that holds a position, or 0 when it is the last. */
    long behind(long position) {
        final long shapeNow = shape;
        final int level = (int) (shapeNow >>> 32);
        final int bits = (IndexItem.tagAt(position) & ((1 << level) - 1)) < (int) shapeNow ? level + 1 : level;
        final long range = 1L << (64 - bits);
        return (position & -range) + range;
    }

    /** Bytes of DRAM. */
    long memoryBytes() {
        return Chunks.memoryBytes(buckets) + overflow.memoryBytes();
    }

    /** An empty bucket, which nothing links to yet. */
    int takeOverflow() {
        return overflow.take();
    }

    /** Links an overflow bucket behind a bucket that links to none. */
    static void link(long[] words, int bucket, int extra) {
        final int linkAt = Chunks.word(bucket) + ITEMS;
        WORD.setRelease(words, linkAt, ExpiryBound.withLink(words[linkAt], extra + 1L));
    }

    /** Sets the expiry bound of a bucket. */
    static void bound(long[] words, int bucket, long bound) {
        final int linkAt = Chunks.word(bucket) + ITEMS;
        WORD.setRelease(words, linkAt, ExpiryBound.with(words[linkAt], bound));
    }

    /** Splits the next bucket if the number of items requires it. */
    void splitIfLoaded(long items) {
        final long shapeNow = shape;
        final int level = (int) (shapeNow >>> 32);
        final int split = (int) shapeNow;
        final long bucketCount = (1L << level) + split;
        if (items * 4 <= bucketCount * LOAD_TIMES_4 || level >= IndexItem.TAG_BITS - 1) {
            return;
        }
        final int target = split + (1 << level);
        ensureBucket(target);
        // All memory first: a move must not be interrupted.
        final int gathered = gather(split);
        overflow.ensure(gathered / ITEMS + 2);
        countMove();
        divide(split, target, 1 << level, gathered);
        final int next = split + 1;
        shape = next == 1 << level ? (long) (level + 1) << 32 : (long) level << 32 | next;
        countMove();
    }

    /** Copies the items of a chain into {@link #moving}; returns their number. */
    private int gather(int source) {
        int n = 0;
        int bucket = source;
        long[] words = Chunks.of(buckets, bucket);
        while (true) {
            final int base = Chunks.word(bucket);
            if (n + ITEMS > moving.length) {
                moving = Arrays.copyOf(moving, 2 * moving.length);
                movingMarks = Arrays.copyOf(movingMarks, moving.length);
            }
            for (int i = base; i < base + ITEMS; i++) {
                if (words[i] != 0) {
                    movingMarks[n] = ReferenceBits.isSet(words[base + ITEMS], i - base);
                    moving[n++] = words[i];
                }
            }
            final int link = ReferenceBits.linkIn(words[base + ITEMS]);
            if (link == 0) {
                return n;
            }
            bucket = link - 1;
            words = Chunks.of(overflow.chunks(), bucket);
        }
    }

    /** Divides the gathered items by whether their tag has {@code bit}, and packs both chains. */
    private void divide(int source, int target, int bit, int n) {
        int bucket = source;
        long[] words = Chunks.of(buckets, bucket);
        final long bound = ExpiryBound.in(words[Chunks.word(bucket) + ITEMS]);
        boolean first = true;
        while (true) {
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                WORD.setRelease(words, i, 0L);
            }
            final int link = ReferenceBits.linkIn(words[base + ITEMS]);
            WORD.setRelease(words, base + ITEMS, 0L);
            if (!first) {
                overflow.give(bucket);
            }
            first = false;
            if (link == 0) {
                break;
            }
            bucket = link - 1;
            words = Chunks.of(overflow.chunks(), bucket);
        }
        fill(source, n, bit, 0);
        fill(target, n, bit, bit);
        bound(Chunks.of(buckets, source), source, bound);
        bound(Chunks.of(buckets, target), target, bound);
    }

    private void fill(int firstBucket, int n, int bit, int needed) {
        int bucket = firstBucket;
        long[] words = Chunks.of(buckets, bucket);
        int used = 0;
        for (int i = 0; i < n; i++) {
            if ((IndexItem.tag(moving[i]) & bit) != needed) {
                continue;
            }
            if (used == ITEMS) {
                final int extra = overflow.take();
                link(words, bucket, extra);
                bucket = extra;
                words = Chunks.of(overflow.chunks(), extra);
                used = 0;
            }
            if (movingMarks[i]) {
                final int linkAt = Chunks.word(bucket) + ITEMS;
                WORD.setRelease(words, linkAt, ReferenceBits.with(words[linkAt], used));
            }
            WORD.setRelease(words, Chunks.word(bucket) + used++, moving[i]);
        }
    }

    /** Puts items into the first empty words of a bucket and of what it links to. No other thread uses the table. */
    void append(int firstBucket, long[] items, int from, int to) {
        int bucket = firstBucket;
        long[] words = Chunks.of(buckets, bucket);
        int used = 0;
        int next = from;
        while (next < to) {
            final int base = Chunks.word(bucket);
            if (used < ITEMS) {
                if (words[base + used] == 0) {
                    WORD.setRelease(words, base + used, items[next++]);
                }
                used++;
            } else {
                final int link = ReferenceBits.linkIn(words[base + ITEMS]);
                final int behind = link == 0 ? overflow.take() : link - 1;
                if (link == 0) {
                    link(words, bucket, behind);
                }
                bucket = behind;
                words = Chunks.of(overflow.chunks(), bucket);
                used = 0;
            }
        }
    }

    private void ensureBucket(int bucket) {
        final long[][] chunks = buckets;
        if (Chunks.exists(chunks, bucket)) {
            return;
        }
        final int chunk = bucket >>> Chunks.SHIFT;
        if (chunk == 0) {
            // Only the first chunk starts smaller: most shards of a small store stay in it.
            final long[][] copy = chunks.clone();
            copy[0] = Arrays.copyOf(chunks[0], 2 * chunks[0].length);
            replaceBuckets(copy);
        } else if (chunk < chunks.length) {
            chunks[chunk] = new long[Chunks.BUCKETS * Chunks.WORDS];
        } else {
            // One eighth more references at a time; the chunks themselves are allocated one by one.
            final long[][] longer = Arrays.copyOf(chunks, chunk + 1 + chunk / 8);
            longer[chunk] = new long[Chunks.BUCKETS * Chunks.WORDS];
            replaceBuckets(longer);
        }
    }

    private void replaceBuckets(long[][] newBuckets) {
        countMove();
        buckets = newBuckets;
        countMove();
    }

    /** Clears the table and reserves capacity for so many items. */
    void reset(long itemCount) {
        final long needed = Math.max(1L << Chunks.MIN_LEVEL, (itemCount * 4 + LOAD_TIMES_4 - 1) / LOAD_TIMES_4);
        final int bucketCount = (int) Math.min(needed, 1L << (IndexItem.TAG_BITS - 1));
        final int level = 31 - Integer.numberOfLeadingZeros(bucketCount);
        final long[][] chunks = Chunks.empty(bucketCount);
        countMove();
        buckets = chunks;
        overflow.clear();
        shape = (long) level << 32 | bucketCount - (1 << level);
        countMove();
    }
}
