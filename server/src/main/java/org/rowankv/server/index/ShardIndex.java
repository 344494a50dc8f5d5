package org.rowankv.server.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.server.log.EntryDescriptor;

/**
 * The DRAM index of one shard (§5.3 of the paper): a linear-hashing table of buckets of eight 64-bit words, seven items
 * and a link to an overflow bucket. An item is the key's 24-bit tag and the 40-bit address, in strides, of its newest
 * entry; 0 is no item. The key itself is only in the log. The upper half of a bucket's link word says when the first of
 * its objects may expire ({@link ExpiryBound}): so what has expired is found without reading the log for what has not.
 *
 * <p>A key's position in its shard (unsigned, in hash order) is bit-reversed; its lowest 24 bits are the tag, and the
 * lowest {@code level} of those the bucket. So a bucket holds a contiguous range of positions, a split divides that
 * range in two, and it needs nothing but the tags: growth never reads the log, and proceeds one bucket at a time.
 *
 * <p>Memory order. Writers hold {@link #lock}. They publish an item with release; a reader loads it with acquire, so it
 * sees the entry that the item points to. Items move only in a split, which makes {@code moves} odd while it lasts: a
 * reader that found nothing looks again if {@code moves} was odd or has changed. A reader that found something needs no
 * such check: the item was there.
 *
 * <p>Guarantees: a find that returns 0 means that at some moment during the call there was no item of the key. Does not
 * guarantee that the segment of a found address is still the one the item meant when the caller reads it: the caller
 * checks the segment's generation, and that the item still {@link #refers} to it.
 */
public final class ShardIndex {
    private static final int ITEMS = 7;
    // Items per bucket before the next split, times 4: 21/4 = 5.25 of 7 keeps the table at 12 to 15 bytes per item.
    private static final int LOAD_TIMES_4 = 21;
    private static final int SET = 1;
    private static final int CLEAR = 2;

    private static final VarHandle ITEM = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle CHANGES;
    private static final VarHandle MOVES;
    private static final VarHandle LOCK;

    static {
        try {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            CHANGES = lookup.findVarHandle(ShardIndex.class, "changes", long.class);
            MOVES = lookup.findVarHandle(ShardIndex.class, "moves", int.class);
            LOCK = lookup.findVarHandle(ShardIndex.class, "lockOwner", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MemoryRegion region;
    // Replaced by longer copies; published by `shape`'s release and by `moves`.
    private volatile long[][] buckets;
    private final OverflowBuckets overflow = new OverflowBuckets();
    /** level << 32 | split: buckets below split are already divided. */
    private volatile long shape;

    @SuppressWarnings("unused") // through MOVES
    private int moves;

    @SuppressWarnings("unused") // through LOCK
    private int lockOwner;

    /** Scratch of a split. */
    private long[] moving = new long[4 * ITEMS];

    private boolean[] movingMarks = new boolean[4 * ITEMS];

    /** No bucket has a smaller bound, unless a walk over all of them is under way. Written under the lock. */
    private volatile long earliestExpiry = ExpiryBound.NEVER;

    private final OwnedCounter count = new OwnedCounter();
    /** Rises with every item that is put, moved or removed. Written under the lock. */
    private volatile long changes;

    public ShardIndex(MemoryRegion region) {
        this(region, 0);
    }

    /** @param firstMoves an even number, at which the count of moves begins */
    ShardIndex(MemoryRegion region, int firstMoves) {
        this.region = region;
        this.moves = firstMoves;
        this.buckets = new long[][] {new long[Chunks.WORDS << Chunks.MIN_LEVEL]};
        this.shape = (long) Chunks.MIN_LEVEL << 32;
    }

    /** Equal at two moments between which no item was put, moved or removed. Any thread, no lock. */
    public long changes() {
        return changes;
    }

    /** Items held: live objects and remembered deletions. */
    public long count() {
        return count.get();
    }

    /** Bytes of DRAM of the tables. */
    public long memoryBytes() {
        long words = 0;
        for (long[] chunk : buckets) {
            words += chunk == null ? 0 : chunk.length + 2;
        }
        return words * Long.BYTES + buckets.length * 4L + overflow.memoryBytes();
    }

    private static int bucketOf(int tag, long shapeNow) {
        final int level = (int) (shapeNow >>> 32);
        final int bucket = tag & ((1 << level) - 1);
        return bucket < (int) shapeNow ? tag & ((2 << level) - 1) : bucket;
    }

    // --- readers ---

    /** The address of the newest entry of a key, or 0. Any thread, no lock. */
    public long find(long position, int cacheId, byte[] key, int keyOffset, int keyLength) {
        return find(position, cacheId, key, keyOffset, keyLength, null, 0);
    }

    private long find(
            long position,
            int cacheId,
            byte @org.jspecify.annotations.Nullable [] key,
            int keyOffset,
            int keyLength,
            @org.jspecify.annotations.Nullable ByteBuffer entry,
            int entryAt) {
        final int tag = IndexItem.tagAt(position);
        // Ends: it begins anew only where a writer moves items, which each does a bounded number of times for an entry.
        while (true) {
            final int before = (int) MOVES.getAcquire(this);
            final long found = search(tag, cacheId, key, keyOffset, keyLength, entry, entryAt);
            if (found > 0) {
                return found;
            }
            if (found == 0 && (before & 1) == 0) {
                VarHandle.acquireFence();
                if ((int) MOVES.getAcquire(this) == before) {
                    return 0;
                }
            }
            Thread.onSpinWait();
        }
    }

    /**
     * As {@link #find}, for callers that compare the key themselves, by {@link #refers}: an address that is not 0 may be of
     * another key, unless that is the one refused. Spares the comparison, since two keys seldom have one tag.
     *
     * @param refused what was returned before and was of another key; 0 at first
     */
    public long findLikely(long position, long refused, int cacheId, byte[] key, int keyOffset, int keyLength) {
        final long first = refused == 0 ? candidate(position, 0) : 0;
        return first == 0 ? find(position, cacheId, key, keyOffset, keyLength) : first;
    }

    /** As {@link #find}, for the key of an entry in the log. */
    public long findKeyOf(long position, ByteBuffer entry, int entryAt) {
        final int cacheId = EntryDescriptor.cacheId(entry, entryAt);
        return find(position, cacheId, null, 0, EntryDescriptor.keyLength(entry, entryAt), entry, entryAt);
    }

    /**
     * Whether the index points to that address now, and the entry there is of that key. Any thread, no lock. With the
     * generation of the address's segment read before, a yes means: of that use.
     */
    public boolean refers(long position, long address, int cacheId, byte[] key, int keyOffset, int keyLength) {
        return refers(position, address) && KeyComparison.isKey(region, address, cacheId, key, keyOffset, keyLength);
    }

    /** Whether the index points to that address now. Any thread, no lock. */
    public boolean refers(long position, long address) {
        final int tag = IndexItem.tagAt(position);
        final long wanted = IndexItem.of(tag, address);
        while (true) {
            final int before = (int) MOVES.getAcquire(this);
            if (holds(tag, wanted)) {
                return true;
            }
            VarHandle.acquireFence();
            if ((before & 1) == 0 && (int) MOVES.getAcquire(this) == before) {
                return false;
            }
            Thread.onSpinWait();
        }
    }

    /** The address found, 0 when there is none, or −1 when the search met a change and must begin again. */
    private long search(
            int tag,
            int cacheId,
            byte @org.jspecify.annotations.Nullable [] key,
            int keyOffset,
            int keyLength,
            @org.jspecify.annotations.Nullable ByteBuffer entry,
            int entryAt) {
        final long[][] chunks = buckets;
        int bucket = bucketOf(tag, shape);
        if (!Chunks.exists(chunks, bucket)) {
            return -1;
        }
        long[] words = Chunks.of(chunks, bucket);
        while (true) {
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                final long item = (long) ITEM.getAcquire(words, i);
                if (IndexItem.tag(item) != tag || item == 0) {
                    continue;
                }
                final long address = IndexItem.address(item);
                final boolean same = key != null
                        ? KeyComparison.isKey(region, address, cacheId, key, keyOffset, keyLength)
                        : KeyComparison.isKeyOf(region, address, entry, entryAt);
                if (same) {
                    return address;
                }
                // A different key, unless the entry's segment was given to something else while it was compared:
                // but before that the item must have been changed.
                VarHandle.acquireFence();
                if ((long) ITEM.getAcquire(words, i) != item) {
                    return -1;
                }
            }
            final int link = ReferenceBits.linkIn((long) ITEM.getAcquire(words, base + ITEMS));
            if (link == 0) {
                return 0;
            }
            bucket = link - 1;
            final long[][] overflowNow = overflow.chunks();
            if (!Chunks.exists(overflowNow, bucket)) {
                return -1;
            }
            words = Chunks.of(overflowNow, bucket);
        }
    }

    private boolean holds(int tag, long item) {
        final long[][] chunks = buckets;
        int bucket = bucketOf(tag, shape);
        if (!Chunks.exists(chunks, bucket)) {
            return false;
        }
        long[] words = Chunks.of(chunks, bucket);
        while (true) {
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                if ((long) ITEM.getAcquire(words, i) == item) {
                    return true;
                }
            }
            final int link = ReferenceBits.linkIn((long) ITEM.getAcquire(words, base + ITEMS));
            final long[][] overflowNow = overflow.chunks();
            if (link == 0 || !Chunks.exists(overflowNow, link - 1)) {
                return false;
            }
            bucket = link - 1;
            words = Chunks.of(overflowNow, bucket);
        }
    }

    // --- writers: the caller holds the lock ---

    /** Takes the index lock for a short while; reentrant for one owner, so that an interrupted step can be done again. */
    public void lock(int owner) {
        if ((int) LOCK.getVolatile(this) == owner) {
            return;
        }
        // Ends: a holder visits a bounded number of buckets, and unlocks behind a finally, which neither allocates nor
        // calls.
        for (int spins = 0; !LOCK.compareAndSet(this, 0, owner); spins++) {
            if (spins < 64) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    }

    public void unlock() {
        LOCK.setRelease(this, 0);
    }

    /**
     * Points the key of the entry at {@code address} to it, whatever it pointed to before.
     *
     * @return the address it replaced, or 0
     */
    public long put(long position, long address) {
        final int tag = IndexItem.tagAt(position);
        final ByteBuffer entry = region.buffer(address);
        final int entryAt = region.offset(address);
        final long item = IndexItem.of(tag, address);
        final long[][] chunks = buckets;
        int bucket = bucketOf(tag, shape);
        long[] words = Chunks.of(chunks, bucket);
        // First, so that an item without its bound cannot be left behind by an error.
        lowerBound(words, bucket, ExpiryBound.of(entry, entryAt));
        long[] emptyWords = null;
        int emptySlot = 0;
        while (true) {
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                final long old = words[i];
                if (old == 0) {
                    if (emptyWords == null) {
                        emptyWords = words;
                        emptySlot = i;
                    }
                } else if (old == item) {
                    return address;
                } else if (IndexItem.tag(old) == tag
                        && KeyComparison.isKeyOf(region, IndexItem.address(old), entry, entryAt)) {
                    unmark(words, i);
                    ITEM.setRelease(words, i, item);
                    changed();
                    return IndexItem.address(old);
                }
            }
            final int link = ReferenceBits.linkIn(words[base + ITEMS]);
            if (link == 0) {
                break;
            }
            bucket = link - 1;
            words = Chunks.of(overflow.chunks(), bucket);
        }
        if (emptyWords == null) {
            final int extra = overflow.take();
            emptyWords = Chunks.of(overflow.chunks(), extra);
            emptySlot = Chunks.word(extra);
            emptyWords[emptySlot] = item;
            final int linkAt = Chunks.word(bucket) + ITEMS;
            ITEM.setRelease(words, linkAt, ExpiryBound.withLink(words[linkAt], extra + 1L));
        } else {
            unmark(emptyWords, emptySlot); // of what was there before
            ITEM.setRelease(emptyWords, emptySlot, item);
        }
        count.add(1);
        changed();
        splitIfLoaded();
        return 0;
    }

    private void changed() {
        CHANGES.setRelease(this, (long) CHANGES.get(this) + 1);
    }

    /** Points from exactly this entry to a newer one of the same key; false when the index points elsewhere by now. */
    public boolean replace(long position, long from, long to) {
        final int tag = IndexItem.tagAt(position);
        final int bucket = bucketOf(tag, shape);
        final long[] words = Chunks.of(buckets, bucket);
        lowerBound(words, bucket, ExpiryBound.of(region.buffer(to), region.offset(to)));
        return exchangeInChain(bucket, words, IndexItem.of(tag, from), IndexItem.of(tag, to), false);
    }

    /** Replaces exactly this address by that of a copy of its entry; false when the index points elsewhere by now. */
    public boolean relocate(long position, long from, long to) {
        return exchange(position, from, IndexItem.of(IndexItem.tagAt(position), to));
    }

    /** Removes exactly this address; false when the index points elsewhere. */
    public boolean remove(long position, long address) {
        if (exchange(position, address, 0)) {
            count.add(-1);
            return true;
        }
        return false;
    }

    private boolean exchange(long position, long from, long newItem) {
        final int tag = IndexItem.tagAt(position);
        final int bucket = bucketOf(tag, shape);
        return exchangeInChain(bucket, Chunks.of(buckets, bucket), IndexItem.of(tag, from), newItem, true);
    }

    private boolean exchangeInChain(int firstBucket, long[] firstWords, long item, long newItem, boolean keepsMark) {
        int bucket = firstBucket;
        long[] words = firstWords;
        while (true) {
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                if (words[i] == item) {
                    if (!keepsMark) {
                        unmark(words, i);
                    }
                    ITEM.setRelease(words, i, newItem);
                    changed();
                    return true;
                }
            }
            final int link = ReferenceBits.linkIn(words[base + ITEMS]);
            if (link == 0) {
                return false;
            }
            bucket = link - 1;
            words = Chunks.of(overflow.chunks(), bucket);
        }
    }

    private void splitIfLoaded() {
        final long shapeNow = shape;
        final int level = (int) (shapeNow >>> 32);
        final int split = (int) shapeNow;
        final long bucketCount = (1L << level) + split;
        if (count.get() * 4 <= bucketCount * LOAD_TIMES_4 || level >= IndexItem.TAG_BITS - 1) {
            return;
        }
        final int target = split + (1 << level);
        ensureBucket(target);
        // All memory first: what is moving cannot be left in the middle.
        final int items = gather(split);
        overflow.ensure(items / ITEMS + 2);
        MOVES.setVolatile(this, (int) MOVES.getVolatile(this) + 1);
        divide(split, target, 1 << level, items);
        final int next = split + 1;
        shape = next == 1 << level ? (long) (level + 1) << 32 : (long) level << 32 | next;
        MOVES.setVolatile(this, (int) MOVES.getVolatile(this) + 1);
    }

    /** Copies the items of a chain into {@link #moving}; returns how many. */
    private int gather(int source) {
        int n = 0;
        int bucket = source;
        long[] words = Chunks.of(buckets, bucket);
        while (true) {
            final int base = Chunks.word(bucket);
            if (n + ITEMS > moving.length) {
                moving = java.util.Arrays.copyOf(moving, 2 * moving.length);
                movingMarks = java.util.Arrays.copyOf(movingMarks, moving.length);
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

    /** Divides the items gathered by whether their tag has {@code bit}, and packs both chains. */
    private void divide(int source, int target, int bit, int n) {
        int bucket = source;
        long[] words = Chunks.of(buckets, bucket);
        final long bound = ExpiryBound.in(words[Chunks.word(bucket) + ITEMS]);
        boolean first = true;
        while (true) {
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                ITEM.setRelease(words, i, 0L);
            }
            final int link = ReferenceBits.linkIn(words[base + ITEMS]);
            ITEM.setRelease(words, base + ITEMS, 0L);
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
        setBound(Chunks.of(buckets, source), source, bound);
        setBound(Chunks.of(buckets, target), target, bound);
    }

    private void fill(int firstBucket, int n, int bit, int wanted) {
        int bucket = firstBucket;
        long[] words = Chunks.of(buckets, bucket);
        int used = 0;
        for (int i = 0; i < n; i++) {
            if ((IndexItem.tag(moving[i]) & bit) != wanted) {
                continue;
            }
            if (used == ITEMS) {
                final int extra = overflow.take();
                final int linkAt = Chunks.word(bucket) + ITEMS;
                ITEM.setRelease(words, linkAt, ExpiryBound.withLink(words[linkAt], extra + 1L));
                bucket = extra;
                words = Chunks.of(overflow.chunks(), extra);
                used = 0;
            }
            if (movingMarks[i]) {
                final int linkAt = Chunks.word(bucket) + ITEMS;
                ITEM.setRelease(words, linkAt, ReferenceBits.with(words[linkAt], used));
            }
            ITEM.setRelease(words, Chunks.word(bucket) + used++, moving[i]);
        }
    }

    private void ensureBucket(int bucket) {
        final long[][] chunks = buckets;
        if (Chunks.exists(chunks, bucket)) {
            return;
        }
        final int chunk = bucket >>> Chunks.SHIFT;
        if (chunk == 0) {
            // Only the first chunk begins smaller than the others: most shards of a small store stay in it.
            final long[][] copy = chunks.clone();
            copy[0] = java.util.Arrays.copyOf(chunks[0], 2 * chunks[0].length);
            replaceBuckets(copy);
        } else if (chunk < chunks.length) {
            chunks[chunk] = new long[Chunks.BUCKETS * Chunks.WORDS];
        } else {
            // An eighth more references at a time; the chunks themselves come one by one.
            final long[][] longer = java.util.Arrays.copyOf(chunks, chunk + 1 + chunk / 8);
            longer[chunk] = new long[Chunks.BUCKETS * Chunks.WORDS];
            replaceBuckets(longer);
        }
    }

    private void replaceBuckets(long[][] newBuckets) {
        MOVES.setVolatile(this, (int) MOVES.getVolatile(this) + 1);
        buckets = newBuckets;
        MOVES.setVolatile(this, (int) MOVES.getVolatile(this) + 1);
    }

    // --- reference bits ---

    /** Puts the item's bit down. The caller holds the lock; a reader's bit that is set just now may be lost. */
    private static void unmark(long[] words, int slot) {
        final int linkAt = slot | ITEMS; // a bucket begins at a multiple of eight
        final long word = words[linkAt];
        if (ReferenceBits.isSet(word, slot & ITEMS)) {
            ITEM.setRelease(words, linkAt, ReferenceBits.without(word, slot & ITEMS));
        }
    }

    /**
     * Notes that the object at that address was used. Any thread, no lock. A hint: a note that meets a change of the bucket
     * may be lost.
     */
    public void mark(long position, long address) {
        reference(position, address, SET);
    }

    /** Whether the object at that address was used since its mark was taken away, or since it came. Any thread, no lock. */
    public boolean isMarked(long position, long address) {
        return reference(position, address, 0);
    }

    /** Takes the mark of the object at that address away. A hint, as above. */
    public void unmark(long position, long address) {
        reference(position, address, CLEAR);
    }

    private boolean reference(long position, long address, int change) {
        final int tag = IndexItem.tagAt(position);
        final long item = IndexItem.of(tag, address);
        long[][] chunks = buckets;
        int bucket = bucketOf(tag, shape);
        while (Chunks.exists(chunks, bucket)) {
            final long[] words = Chunks.of(chunks, bucket);
            final int base = Chunks.word(bucket);
            final long word = (long) ITEM.getAcquire(words, base + ITEMS);
            for (int i = base; i < base + ITEMS; i++) {
                if ((long) ITEM.getAcquire(words, i) == item) {
                    final boolean isSet = ReferenceBits.isSet(word, i - base);
                    if (change != 0 && isSet != (change == SET)) {
                        // Exactly the word that was read: a link or a bound that somebody wrote meanwhile stays.
                        final long changed = change == SET
                                ? ReferenceBits.with(word, i - base)
                                : ReferenceBits.without(word, i - base);
                        ITEM.compareAndSet(words, base + ITEMS, word, changed);
                    }
                    return isSet;
                }
            }
            bucket = ReferenceBits.linkIn(word) - 1;
            if (bucket < 0) {
                return false;
            }
            chunks = overflow.chunks();
        }
        return false;
    }

    // --- expiry bounds: the caller holds the lock, but for earliestExpiry ---

    private static void setBound(long[] words, int bucket, long bound) {
        final int linkAt = Chunks.word(bucket) + ITEMS;
        ITEM.setRelease(words, linkAt, ExpiryBound.with(words[linkAt], bound));
    }

    private void lowerBound(long[] words, int bucket, long bound) {
        if (bound < ExpiryBound.in(words[Chunks.word(bucket) + ITEMS])) {
            setBound(words, bucket, bound);
        }
        if (bound < earliestExpiry) {
            earliestExpiry = bound;
        }
    }

    /** The smallest bound of all buckets, or of those that the walk under way has come by. Any thread, no lock. */
    public long earliestExpiry() {
        return earliestExpiry;
    }

    /** Forgets the smallest bound; a walk over all positions must find it again, by {@link #passExpiryBound}. */
    public void beginExpiryWalk() {
        earliestExpiry = ExpiryBound.NEVER;
    }

    /** The bound of the bucket of that position. */
    public long expiryBound(long position) {
        final int bucket = bucketOf(IndexItem.tagAt(position), shape);
        return ExpiryBound.in(Chunks.of(buckets, bucket)[Chunks.word(bucket) + ITEMS]);
    }

    /** The caller has read all entries of the bucket of that position: none expires before {@code bound}. */
    public void expiryBound(long position, long bound) {
        final int bucket = bucketOf(IndexItem.tagAt(position), shape);
        setBound(Chunks.of(buckets, bucket), bucket, bound);
    }

    /** A walk leaves the bucket of that position behind; returns the position behind its range, or 0 at the end. */
    public long passExpiryBound(long position) {
        earliestExpiry = Math.min(earliestExpiry, expiryBound(position));
        return behind(position, shape);
    }

    // --- traversal ---

    private static long behind(long position, long shapeNow) {
        final int level = (int) (shapeNow >>> 32);
        final int bits = (IndexItem.tagAt(position) & ((1 << level) - 1)) < (int) shapeNow ? level + 1 : level;
        final long range = 1L << (64 - bits);
        return (position & -range) + range;
    }

    /** Receives addresses of a traversal. */
    @FunctionalInterface
    public interface AddressConsumer {
        void accept(long address);
    }

    /**
     * Hands over the items of one bucket: those of the contiguous range of positions that begins at or contains
     * {@code position}. The caller holds the lock.
     *
     * @return the position behind that range, or 0 when it was the last
     */
    public long visit(long position, AddressConsumer consumer) {
        return visitItems(position, item -> consumer.accept(IndexItem.address(item)));
    }

    /**
     * The address of the n-th item, from 0, that may be of the key at that position, as far as an item tells; 0 when there
     * are no more. Keys are not compared, so nothing is read that could be damaged. Any thread, no lock: while items move
     * it may miss one.
     */
    public long candidate(long position, int n) {
        final int tag = IndexItem.tagAt(position);
        int left = n;
        final long[][] chunks = buckets;
        int bucket = bucketOf(tag, shape);
        long[][] all = chunks;
        while (Chunks.exists(all, bucket)) {
            final long[] words = Chunks.of(all, bucket);
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                final long item = (long) ITEM.getAcquire(words, i);
                if (item != 0 && IndexItem.tag(item) == tag && left-- == 0) {
                    return IndexItem.address(item);
                }
            }
            final int link = ReferenceBits.linkIn((long) ITEM.getAcquire(words, base + ITEMS));
            if (link == 0) {
                return 0;
            }
            bucket = link - 1;
            all = overflow.chunks();
        }
        return 0;
    }

    // --- images: what a checkpoint writes, and reads back ---

    /** Receives the items of an image. */
    @FunctionalInterface
    public interface ItemConsumer {
        /** @param item see {@link IndexItem}; {@link #load} takes it back */
        void accept(long item);
    }

    /** As {@link #visit}, with whole items; the bound of the bucket is {@link #expiryBound(long)}. */
    public long visitItems(long position, ItemConsumer consumer) {
        final long shapeNow = shape;
        int bucket = bucketOf(IndexItem.tagAt(position), shapeNow);
        long[] words = Chunks.of(buckets, bucket);
        while (true) {
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                if (words[i] != 0) {
                    consumer.accept(words[i]);
                }
            }
            final int link = ReferenceBits.linkIn(words[base + ITEMS]);
            if (link == 0) {
                return behind(position, shapeNow);
            }
            bucket = link - 1;
            words = Chunks.of(overflow.chunks(), bucket);
        }
    }

    /**
     * Forgets everything, and makes room for so many items, which {@link #load} adds. Nobody else uses the index
     * meanwhile.
     */
    public void beginLoad(long itemCount) {
        final long wanted = Math.max(1L << Chunks.MIN_LEVEL, (itemCount * 4 + LOAD_TIMES_4 - 1) / LOAD_TIMES_4);
        final int bucketCount = (int) Math.min(wanted, 1L << (IndexItem.TAG_BITS - 1));
        final int level = 31 - Integer.numberOfLeadingZeros(bucketCount);
        final long[][] chunks = Chunks.empty(bucketCount);
        MOVES.setVolatile(this, (int) MOVES.getVolatile(this) + 1);
        buckets = chunks;
        overflow.clear();
        earliestExpiry = ExpiryBound.NEVER;
        count.add(-count.get());
        shape = (long) level << 32 | bucketCount - (1 << level);
        MOVES.setVolatile(this, (int) MOVES.getVolatile(this) + 1);
    }

    /**
     * Adds an item of an image, of a key that is not there yet; reads no log. For the one thread that loads.
     *
     * @param bound the second before which its object does not expire, or {@link ExpiryBound#NEVER}
     */
    public void load(long item, long bound) {
        int bucket = bucketOf(IndexItem.tag(item), shape);
        long[] words = Chunks.of(buckets, bucket);
        lowerBound(words, bucket, bound);
        while (true) {
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                if (words[i] == 0) {
                    ITEM.setRelease(words, i, item);
                    count.add(1);
                    return;
                }
            }
            final int link = ReferenceBits.linkIn(words[base + ITEMS]);
            if (link == 0) {
                final int extra = overflow.take();
                words[base + ITEMS] = ExpiryBound.withLink(words[base + ITEMS], extra + 1L);
                bucket = extra;
            } else {
                bucket = link - 1;
            }
            words = Chunks.of(overflow.chunks(), bucket);
        }
    }
}
