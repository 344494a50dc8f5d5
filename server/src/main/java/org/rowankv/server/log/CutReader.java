package org.rowankv.server.log;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;

/**
 * Reads pinned segments of a running server as of a cut: of each shard the entries up to a version, all of which are on all
 * replicas. What was written later, is being written, or lies there of an earlier use, is left out. For one thread.
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
    /** Where the next copied entry begins, if nothing is left out before it. */
    private int copied;

    private @Nullable String firstInvalid;

    /** @param upTo by shard, the last version that belongs to the cut */
    public CutReader(Segments segments, long[] upTo) {
        this.segments = segments;
        this.upTo = upTo.clone();
        this.scan = new SegmentScan(segments.region());
    }

    /**
     * Hands over the entries of a pinned segment that belong to the cut.
     *
     * @return why not all of them could be read, with the offset of what is damaged; null if they could
     */
    public @Nullable String read(int segment, Visitor visitor) {
        final int generation = segments.generation(segment);
        entries = 0;
        if (generation == 0) {
            return null; // it was taken back without ever having been used
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

    /** Handed over of the segment that was read last. */
    public int entries() {
        return entries;
    }

    /**
     * Commit vectors too, although they may name later versions: that everything up to those is on all replicas is true of
     * the cut, which holds nothing later.
     */
    private boolean belongs(ByteBuffer buffer, int at, int type) {
        if (type == EntryType.COMMIT_VECTOR) {
            return true;
        }
        final int shard = EntryDescriptor.shard(buffer, at);
        return shard < upTo.length && EntryDescriptor.version(buffer, at) <= upTo[shard];
    }

    /**
     * As {@link #read}, into a buffer of the segment's length: the entries where they lie in it. A void place stands before an entry
     * for all that is left out there, since a gap without a word would mean damage. Behind the last entry there are zeros.
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
