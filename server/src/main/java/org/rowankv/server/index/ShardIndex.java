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
 * entry; 0 is no item. The key itself is only in the log. The upper half of a bucket's link word holds the bucket's
 * {@link ExpiryBound}, so expired objects are found without reading the log for the others.
 *
 * <p>A key's position in its shard (unsigned, in hash order) is bit-reversed. Its lowest 24 bits are the tag, and the
 * lowest {@code level} of those the bucket. So a bucket holds a contiguous range of positions, and a split divides that
 * range in two by the tags alone. Growth never reads the log, and proceeds one bucket at a time.
 *
 * <p>Memory order. Writers hold {@link #lock}. They publish an item with release; a reader loads it with acquire, so it
 * sees the entry that the item points to. Items move only in a split, which makes {@link BucketTable#moves} odd while
 * it lasts. A reader without a result searches again if it was odd or has changed. A reader with a result needs no such
 * check: the item was there.
 *
 * <p>Guarantees: a find that returns 0 means that at some moment during the call there was no item of the key. Does not
 * guarantee that the segment of a found address is still in the same use when the caller reads it. The caller checks
 * the segment's generation, and that the item still {@link #refers} to it.
 */
public final class ShardIndex {
    private static final int ITEMS = Chunks.ITEMS;

    private static final VarHandle WORD = Chunks.WORD;
    private static final VarHandle CHANGES;
    private static final VarHandle LOCK;

    static {
        try {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            CHANGES = lookup.findVarHandle(ShardIndex.class, "changes", long.class);
            LOCK = lookup.findVarHandle(ShardIndex.class, "lockOwner", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MemoryRegion region;
    private final BucketTable table;
    private final ReferenceMarks marks;
    private final ExpiryIndex expiry;

    @SuppressWarnings("unused") // through LOCK
    private int lockOwner;

    private final OwnedCounter count = new OwnedCounter();
    /** Incremented with every item that is put, moved or removed. Written under the lock. */
    private volatile long changes;

    public ShardIndex(MemoryRegion region) {
        this(region, 0);
    }

    /** @param firstMoves an even number, at which the count of moves begins */
    ShardIndex(MemoryRegion region, int firstMoves) {
        this.region = region;
        this.table = new BucketTable(firstMoves);
        this.marks = new ReferenceMarks(table);
        this.expiry = new ExpiryIndex(table);
    }

    /** Equal at two moments if no item was put, moved or removed in between. Any thread, no lock. */
    public long changes() {
        return changes;
    }

    /** Items held: live objects and remembered deletions. */
    public long count() {
        return count.get();
    }

    /** Bytes of DRAM of the tables. */
    public long memoryBytes() {
        return table.memoryBytes();
    }

    /** Which objects were used lately. */
    public ReferenceMarks marks() {
        return marks;
    }

    /** When objects may expire. */
    public ExpiryIndex expiry() {
        return expiry;
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
        // Terminates: it restarts only when a writer moves items, a bounded number of times per entry.
        while (true) {
            final int before = table.moves();
            final long found = search(tag, cacheId, key, keyOffset, keyLength, entry, entryAt);
            if (found > 0) {
                return found;
            }
            if (found == 0 && (before & 1) == 0) {
                VarHandle.acquireFence();
                if (table.moves() == before) {
                    return 0;
                }
            }
            Thread.onSpinWait();
        }
    }

    /**
     * As {@link #find}, for callers that compare the key themselves, by {@link #refers}: an address that is not 0 may
     * belong to another key, unless that is the one refused. Saves the comparison, since two keys seldom share a tag.
     *
     * @param refused the address returned before that belonged to another key; 0 at first
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
     * Whether the index points to that address now, and the entry there has that key. Any thread, no lock. If the
     * generation of the address's segment was read before, true refers to that use.
     */
    public boolean refers(long position, long address, int cacheId, byte[] key, int keyOffset, int keyLength) {
        return refers(position, address) && KeyComparison.isKey(region, address, cacheId, key, keyOffset, keyLength);
    }

    /** Whether the index points to that address now. Any thread, no lock. */
    public boolean refers(long position, long address) {
        final int tag = IndexItem.tagAt(position);
        final long item = IndexItem.of(tag, address);
        while (true) {
            final int before = table.moves();
            if (holds(tag, item)) {
                return true;
            }
            VarHandle.acquireFence();
            if ((before & 1) == 0 && table.moves() == before) {
                return false;
            }
            Thread.onSpinWait();
        }
    }

    /** The address found, 0 when there is none, or −1 when a concurrent change requires a restart. */
    private long search(
            int tag,
            int cacheId,
            byte @org.jspecify.annotations.Nullable [] key,
            int keyOffset,
            int keyLength,
            @org.jspecify.annotations.Nullable ByteBuffer entry,
            int entryAt) {
        final long[][] chunks = table.chunks();
        int bucket = table.bucketOf(tag);
        if (!Chunks.exists(chunks, bucket)) {
            return -1;
        }
        long[] words = Chunks.of(chunks, bucket);
        while (true) {
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                final long item = (long) WORD.getAcquire(words, i);
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
                // A different key, unless the entry's segment was reused during the comparison: but then the item must
                // have changed before.
                VarHandle.acquireFence();
                if ((long) WORD.getAcquire(words, i) != item) {
                    return -1;
                }
            }
            final int link = ReferenceBits.linkIn((long) WORD.getAcquire(words, base + ITEMS));
            if (link == 0) {
                return 0;
            }
            bucket = link - 1;
            final long[][] overflowNow = table.overflowChunks();
            if (!Chunks.exists(overflowNow, bucket)) {
                return -1;
            }
            words = Chunks.of(overflowNow, bucket);
        }
    }

    private boolean holds(int tag, long item) {
        final long[][] chunks = table.chunks();
        int bucket = table.bucketOf(tag);
        if (!Chunks.exists(chunks, bucket)) {
            return false;
        }
        long[] words = Chunks.of(chunks, bucket);
        while (true) {
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                if ((long) WORD.getAcquire(words, i) == item) {
                    return true;
                }
            }
            final int link = ReferenceBits.linkIn((long) WORD.getAcquire(words, base + ITEMS));
            final long[][] overflowNow = table.overflowChunks();
            if (link == 0 || !Chunks.exists(overflowNow, link - 1)) {
                return false;
            }
            bucket = link - 1;
            words = Chunks.of(overflowNow, bucket);
        }
    }

    // --- writers: the caller holds the lock ---

    /** Takes the index lock briefly; reentrant for one owner, so that an interrupted step can be repeated. */
    public void lock(int owner) {
        if ((int) LOCK.getVolatile(this) == owner) {
            return;
        }
        // Terminates: a holder visits a bounded number of buckets, and unlocks in a finally block, which neither
        // allocates nor calls.
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
        final long[][] chunks = table.chunks();
        int bucket = table.bucketOf(tag);
        long[] words = Chunks.of(chunks, bucket);
        // First, so that an error cannot leave an item without its bound.
        expiry.lower(words, bucket, ExpiryBound.of(entry, entryAt));
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
                    ReferenceMarks.clear(words, i);
                    WORD.setRelease(words, i, item);
                    changed();
                    return IndexItem.address(old);
                }
            }
            final int link = ReferenceBits.linkIn(words[base + ITEMS]);
            if (link == 0) {
                break;
            }
            bucket = link - 1;
            words = Chunks.of(table.overflowChunks(), bucket);
        }
        if (emptyWords == null) {
            final int extra = table.takeOverflow();
            emptyWords = Chunks.of(table.overflowChunks(), extra);
            emptySlot = Chunks.word(extra);
            emptyWords[emptySlot] = item;
            BucketTable.link(words, bucket, extra);
        } else {
            ReferenceMarks.clear(emptyWords, emptySlot); // of what was there before
            WORD.setRelease(emptyWords, emptySlot, item);
        }
        count.add(1);
        changed();
        table.splitIfLoaded(count.get());
        return 0;
    }

    private void changed() {
        CHANGES.setRelease(this, (long) CHANGES.get(this) + 1);
    }

    /** Points from exactly this entry to a newer one of the same key; false when the index points elsewhere by now. */
    public boolean replace(long position, long from, long to) {
        final int tag = IndexItem.tagAt(position);
        final int bucket = table.bucketOf(tag);
        final long[] words = Chunks.of(table.chunks(), bucket);
        expiry.lower(words, bucket, ExpiryBound.of(region.buffer(to), region.offset(to)));
        return exchangeInChain(bucket, words, IndexItem.of(tag, from), IndexItem.of(tag, to), false);
    }

    /** Replaces exactly this address by that of a copy of its entry; false when the index points elsewhere by now. */
    public boolean relocate(long position, long from, long to) {
        final int tag = IndexItem.tagAt(position);
        final int bucket = table.bucketOf(tag);
        final long[] words = Chunks.of(table.chunks(), bucket);
        // The entry may have been damaged when the bound was taken from it, and be repaired by this copy.
        expiry.lower(words, bucket, ExpiryBound.of(region.buffer(to), region.offset(to)));
        return exchangeInChain(bucket, words, IndexItem.of(tag, from), IndexItem.of(tag, to), true);
    }

    /** Removes exactly this address; false when the index points elsewhere. */
    public boolean remove(long position, long address) {
        final int tag = IndexItem.tagAt(position);
        final int bucket = table.bucketOf(tag);
        if (exchangeInChain(bucket, Chunks.of(table.chunks(), bucket), IndexItem.of(tag, address), 0, true)) {
            count.add(-1);
            return true;
        }
        return false;
    }

    private boolean exchangeInChain(int firstBucket, long[] firstWords, long item, long newItem, boolean keepsMark) {
        int bucket = firstBucket;
        long[] words = firstWords;
        while (true) {
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                if (words[i] == item) {
                    if (!keepsMark) {
                        ReferenceMarks.clear(words, i);
                    }
                    WORD.setRelease(words, i, newItem);
                    changed();
                    return true;
                }
            }
            final int link = ReferenceBits.linkIn(words[base + ITEMS]);
            if (link == 0) {
                return false;
            }
            bucket = link - 1;
            words = Chunks.of(table.overflowChunks(), bucket);
        }
    }

    // --- traversal ---

    /** Receives addresses of a traversal. */
    @FunctionalInterface
    public interface AddressConsumer {
        void accept(long address);
    }

    /**
     * Visits the items of one bucket: those of the contiguous range of positions that begins at or contains {@code
     * position}. The caller holds the lock.
     *
     * @return the position after that range, or 0 when it was the last
     */
    public long visit(long position, AddressConsumer consumer) {
        return visitItems(position, item -> consumer.accept(IndexItem.address(item)));
    }

    /**
     * The address of the n-th item, from 0, that may belong to the key at that position, as far as an item shows; 0
     * when there are no more. Keys are not compared, so no damaged bytes are read. Any thread, no lock: while items
     * move it may miss one.
     */
    public long candidate(long position, int n) {
        final int tag = IndexItem.tagAt(position);
        int left = n;
        final long[][] chunks = table.chunks();
        int bucket = table.bucketOf(tag);
        long[][] all = chunks;
        while (Chunks.exists(all, bucket)) {
            final long[] words = Chunks.of(all, bucket);
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                final long item = (long) WORD.getAcquire(words, i);
                if (item != 0 && IndexItem.tag(item) == tag && left-- == 0) {
                    return IndexItem.address(item);
                }
            }
            final int link = ReferenceBits.linkIn((long) WORD.getAcquire(words, base + ITEMS));
            if (link == 0) {
                return 0;
            }
            bucket = link - 1;
            all = table.overflowChunks();
        }
        return 0;
    }

    // --- images: written and read by checkpoints ---

    /** Receives the items of an image. */
    @FunctionalInterface
    public interface ItemConsumer {
        /** @param item see {@link IndexItem}; {@link #load} takes it back */
        void accept(long item);
    }

    /** As {@link #visit}, with whole items; the bound of the bucket is {@link ExpiryIndex#bound(long)}. */
    public long visitItems(long position, ItemConsumer consumer) {
        final long behind = table.behind(position);
        int bucket = table.bucketOf(IndexItem.tagAt(position));
        long[] words = Chunks.of(table.chunks(), bucket);
        while (true) {
            final int base = Chunks.word(bucket);
            for (int i = base; i < base + ITEMS; i++) {
                if (words[i] != 0) {
                    consumer.accept(words[i]);
                }
            }
            final int link = ReferenceBits.linkIn(words[base + ITEMS]);
            if (link == 0) {
                return behind;
            }
            bucket = link - 1;
            words = Chunks.of(table.overflowChunks(), bucket);
        }
    }

    /**
     * Clears the index and reserves capacity for the items that {@link #load} adds. No other thread uses the index
     * meanwhile.
     */
    public void beginLoad(long itemCount) {
        table.reset(itemCount);
        expiry.beginWalk();
        count.add(-count.get());
    }

    /**
     * Adds items of an image, whose keys are not present yet; reads no log. Faster if they belong to one bucket, as those
     * of an image's group do unless the index had another size. For the single loading thread.
     *
     * @param bound the second before which none of their objects expires, or {@link ExpiryBound#NEVER}
     */
    public void load(long[] items, int itemCount, long bound) {
        int to;
        for (int from = 0; from < itemCount; from = to) {
            final int bucket = table.bucketOf(IndexItem.tag(items[from]));
            to = from + 1;
            while (to < itemCount && table.bucketOf(IndexItem.tag(items[to])) == bucket) {
                to++;
            }
            expiry.lower(Chunks.of(table.chunks(), bucket), bucket, bound);
            table.append(bucket, items, from, to);
        }
        count.add(itemCount);
    }
}
