package org.rowankv.server.log;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;

/**
 * A reader of pinned segments of a running server as of a snapshot version. It reads of each shard the entries up to
 * that version, all of which are on all replicas. It skips what was written later, is being written, or belongs to an
 * earlier use. For one thread.
 */
public final class CutReader {
    /** Receives the entries of a segment, in the order of their addresses, by {@link SegmentScan.Visitor#onEntry}. */
    @FunctionalInterface
    public interface Visitor {
        void onEntry(ByteBuffer buffer, int at, int offsetInSegment, int type, int length);
    }

    private final Segments segments;
    private final long[] upTo;
    private final SegmentScan scan;
    private int found;
    private int entries;
    private int invalid;
    /** The start of the next copied entry, if nothing is skipped before it. */
    private int copied;

    private @Nullable String firstInvalid;

    /** @param upTo by shard, the snapshot version */
    public CutReader(Segments segments, long[] upTo) {
        this.segments = segments;
        this.upTo = upTo.clone();
        this.scan = new SegmentScan(segments.region());
    }

    /**
     * Visits the entries of a pinned segment up to the snapshot versions.
     *
     * @return the reason why not all of them could be read, with the offset of the damage; null if they could
     */
    public @Nullable String read(int segment, Visitor visitor) {
        final int generation = segments.generation(segment);
        entries = 0;
        if (generation == 0) {
            return null; // it was freed without being used
        }
        final int written = segments.entryBytes(segment); // before it is read: an open one may be closed meanwhile
        final long address = segments.area().addressOf(segment);
        found = 0;
        invalid = 0;
        firstInvalid = null;
        scan.scan(address, segments.length(), generation, new SegmentScan.Visitor() {
            @Override
            public void onEntry(ByteBuffer buffer, int at, long entryAddress, int type, int length) {
                found += segments.charge(length);
                if (belongs(buffer, at, type)) {
                    entries++;
                    visitor.onEntry(buffer, at, (int) (entryAddress - address), type, length);
                }
            }

            @Override
            public void onInvalid(long entryAddress, String reason) {
                invalid++;
                if (firstInvalid == null) {
                    firstInvalid = "offset " + entryAddress + ": segment " + segment + ": " + reason;
                }
            }
        });
        final int missing = written < 0 ? 0 : written - found;
        if (segments.damage().isAsExpected(segment, generation, invalid, missing)) {
            return null;
        }
        segments.damage().suspect(segment, generation);
        return firstInvalid != null
                ? firstInvalid
                : "offset " + address + ": segment " + segment + ": of its entries " + missing + " bytes are missing";
    }

    /** Entries visited in the last segment read. */
    public int entries() {
        return entries;
    }

    /**
     * Commit vectors too, although they may name later versions: it holds for the snapshot, which has nothing later,
     * that everything up to those is on all replicas.
     */
    private boolean belongs(ByteBuffer buffer, int at, int type) {
        if (type == EntryType.COMMIT_VECTOR) {
            return true;
        }
        final int shard = EntryDescriptor.shard(buffer, at);
        return shard < upTo.length && EntryDescriptor.version(buffer, at) <= upTo[shard];
    }

    /**
     * As {@link #read}, into a buffer of the segment's length: each entry at its offset. A void place precedes an entry
     * for all that is skipped, since a gap without a word would mean damage. Zeros follow the last entry.
     */
    public @Nullable String copy(int segment, ByteBuffer into) {
        into.clear();
        while (into.remaining() >= Long.BYTES) {
            into.putLong(0);
        }
        into.clear();
        copied = 0;
        final int generation = segments.generation(segment);
        return read(segment, (buffer, at, offset, type, length) -> {
            if (offset > copied) {
                final int strides = (offset - copied) / FrameDescriptor.STRIDE;
                FrameDescriptor.wordRelease(
                        into, copied, FrameDescriptor.word(generation, strides, FrameDescriptor.VOID));
            }
            into.put(offset, buffer, at, length);
            copied = offset + length;
        });
    }
}
