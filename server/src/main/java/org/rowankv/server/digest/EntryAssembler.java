package org.rowankv.server.digest;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.BlockDescriptor;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;

/**
 * Assembles entries that landed as blocks (§4.2.2 of the paper). Once all blocks are there it makes one contiguous
 * copy, which is indexed; blocks never are. Owned by the digest agent, or by the scan.
 */
public final class EntryAssembler {
    /** Receives an entry that is whole, or was abandoned. */
    public interface Handler {
        void onAssembled(long address, int type, int length);

        /**
         * Whether a whole entry must still be kept.
         *
         * @param entry the entry from its version on, as if it began at {@code at}, without its frame
         */
        boolean accepts(ByteBuffer entry, int at, int type);

        /**
         * The block is not needed any more.
         *
         * @param repeated whether it had landed before, so that no space was acquired for it
         */
        void onBlockDone(long address, int length, boolean repeated);
    }

    private record Block(long address, int length, int start, int payload) {}

    private static final class Entry {
        final int shard;
        final int bodyLength;
        final int bodyCrc;
        final int type;
        final int tag;
        final List<Block> blocks = new ArrayList<>();
        final Set<Integer> starts = new HashSet<>();
        int received;

        Entry(int shard, int bodyLength, int bodyCrc, int type, int tag) {
            this.shard = shard;
            this.bodyLength = bodyLength;
            this.bodyCrc = bodyCrc;
            this.type = type;
            this.tag = tag;
        }
    }

    private final Segments segments;
    private final MemoryRegion region;
    private final AppendLog log;
    private final Map<AssembledEntries.Key, Entry> incomplete = new HashMap<>();
    private final AssembledEntries done = new AssembledEntries();

    private final ArrayDeque<Entry> whole = new ArrayDeque<>();
    private int repeatedCount;
    private ByteBuffer staging = ByteBuffer.allocateDirect(0);

    /** @param keepFree free segments that it leaves to the cleaner */
    public EntryAssembler(Segments segments, int keepFree) {
        this.segments = segments;
        this.region = segments.region();
        this.log = new AppendLog(segments, SegmentOwner.CLEAN, keepFree);
    }

    /** Accepts a valid block. A block that is present already is done at once. */
    public void block(long address, int length, Handler handler) {
        final ByteBuffer buffer = region.buffer(address);
        final int at = region.offset(address);
        final AssembledEntries.Key key = new AssembledEntries.Key(
                EntryDescriptor.shard(buffer, at),
                EntryDescriptor.version(buffer, at),
                BlockDescriptor.entryType(buffer, at));
        if (done.contains(key)) {
            repeatedCount++;
            handler.onBlockDone(address, length, true);
            return;
        }
        Entry entry = incomplete.get(key);
        if (entry == null) {
            entry = new Entry(
                    key.shard(),
                    BlockDescriptor.bodyLength(buffer, at),
                    BlockDescriptor.bodyCrc(buffer, at),
                    BlockDescriptor.entryType(buffer, at),
                    FrameDescriptor.tag(buffer, at));
            incomplete.put(key, entry);
        }
        final int start = BlockDescriptor.payloadStart(buffer, at);
        if (BlockDescriptor.bodyLength(buffer, at) != entry.bodyLength || !entry.starts.add(start)) {
            repeatedCount++;
            handler.onBlockDone(address, length, true);
            return;
        }
        final int payload = BlockDescriptor.payloadLength(buffer, at);
        entry.blocks.add(new Block(address, length, start, payload));
        entry.received += payload;
        if (entry.received == entry.bodyLength) {
            incomplete.remove(key);
            done.add(key);
            whole.add(entry);
        }
    }

    /** Every entry of the shard up to that version is on all replicas: no block of it is sent any more. */
    void committed(int shard, long version) {
        done.forget(shard, version);
    }

    /** Assembles whole entries as far as there is room; returns how many. */
    public int assemble(Handler handler) {
        int count = 0;
        while (!whole.isEmpty()) {
            final Entry entry = whole.peek();
            gather(entry);
            if (handler.accepts(staging, 0, entry.type)) {
                final int length = EntryDescriptor.aligned(entry.bodyLength + EntryDescriptor.FRAME_LENGTH);
                if (!log.ensureRoom(length, horizonOf(entry))) {
                    return count;
                }
                final long address = log.appendBody(
                        staging,
                        EntryDescriptor.FRAME_LENGTH,
                        entry.bodyLength,
                        entry.type,
                        entry.bodyCrc,
                        entry.tag,
                        0);
                handler.onAssembled(address, entry.type, length);
            }
            whole.poll();
            for (Block block : entry.blocks) {
                handler.onBlockDone(block.address(), block.length(), false);
            }
            count++;
        }
        return count;
    }

    /**
     * Orders whole entries by the segments of their blocks, so that these become free of needed blocks one by one. For
     * a start, which has little room and reads segments in any order.
     */
    public void orderBySegment() {
        final List<Entry> ordered = new ArrayList<>(whole);
        ordered.sort(Comparator.comparingLong(this::newestSegmentOf).reversed());
        whole.clear();
        whole.addAll(ordered);
    }

    private long newestSegmentOf(Entry entry) {
        long newest = 0;
        for (Block block : entry.blocks) {
            newest = Math.max(newest, segments.sequence(segments.segmentOf(block.address())));
        }
        return newest;
    }

    /** The copy is as old as the oldest of its blocks. */
    private long horizonOf(Entry entry) {
        long oldest = Long.MAX_VALUE;
        for (Block block : entry.blocks) {
            oldest = Math.min(oldest, segments.horizon(segments.segmentOf(block.address())));
        }
        return oldest;
    }

    /** Whether that segment holds a block of an entry that is not whole or not assembled. */
    public boolean holdsBlockOf(int segment) {
        for (Entry entry : incomplete.values()) {
            if (hasBlockIn(entry, segment)) {
                return true;
            }
        }
        for (Entry entry : whole) {
            if (hasBlockIn(entry, segment)) {
                return true;
            }
        }
        return false;
    }

    private boolean hasBlockIn(Entry entry, int segment) {
        for (Block block : entry.blocks) {
            if (segments.segmentOf(block.address()) == segment) {
                return true;
            }
        }
        return false;
    }

    private void gather(Entry entry) {
        final int length = EntryDescriptor.FRAME_LENGTH + entry.bodyLength;
        if (staging.capacity() < length) {
            staging = ByteBuffer.allocateDirect(Math.max(length, 2 * staging.capacity()))
                    .order(java.nio.ByteOrder.LITTLE_ENDIAN);
        }
        for (Block block : entry.blocks) {
            staging.put(
                    EntryDescriptor.FRAME_LENGTH + block.start(),
                    region.buffer(block.address()),
                    region.offset(block.address()) + BlockDescriptor.PAYLOAD_OFFSET,
                    block.payload());
        }
    }

    /** The number of blocks that had landed before. */
    int repeatedCount() {
        return repeatedCount;
    }

    public boolean isIdle() {
        return whole.isEmpty();
    }

    /** Whether no whole entry of that shard waits to be assembled. */
    boolean isIdle(int shard) {
        for (Entry entry : whole) {
            if (entry.shard == shard) {
                return false;
            }
        }
        return true;
    }

    /** Drops entries that will never be whole, at the end of a scan. */
    public void giveUpIncomplete(Handler handler) {
        incomplete.values().forEach(entry -> giveUp(entry, handler));
        incomplete.clear();
    }

    /** Drops a shard's entries of which some block came before that epoch: no more of their blocks land. */
    void giveUpIncomplete(int shard, int epoch, Handler handler) {
        final Iterator<Entry> each = incomplete.values().iterator();
        while (each.hasNext()) {
            final Entry entry = each.next();
            if (entry.shard == shard && entry.tag < epoch) {
                each.remove();
                giveUp(entry, handler);
            }
        }
    }

    private static void giveUp(Entry entry, Handler handler) {
        for (Block block : entry.blocks) {
            handler.onBlockDone(block.address(), block.length(), false);
        }
    }

    /** Drops what has landed of a shard and is not assembled, and forgets what was: its versions may land anew. */
    void giveUp(int shard, Handler handler) {
        final List<Entry> dropped = new ArrayList<>();
        incomplete.entrySet().removeIf(each -> each.getKey().shard() == shard && dropped.add(each.getValue()));
        whole.removeIf(entry -> entry.shard == shard && dropped.add(entry));
        for (Entry entry : dropped) {
            for (Block block : entry.blocks) {
                handler.onBlockDone(block.address(), block.length(), false);
            }
        }
        done.forget(shard, Long.MAX_VALUE);
    }

    public AppendLog log() {
        return log;
    }
}
