package org.rowankv.server.log;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.pm.AreaImage;
import org.rowankv.server.pm.SegmentState;

/**
 * Reads one server's area without index, digest or recovery: every valid entry of every segment in use, and entries that
 * lie there in blocks only. What the engine makes of the same bytes can be held against it. Used by one thread, on a
 * store that nobody has open.
 *
 * <p>Entries come in no order that means anything; of two of a key the one with the larger version counts. Entries of
 * an older tenure are void and left out.
 */
public final class AreaReader {
    /** Receives the entries; the arrays are its own. */
    @FunctionalInterface
    public interface Visitor {
        /**
         * @param version of the entry
         * @param objectVersion by which clients know the object: the entry's own unless it is a touch
         * @param bodyCrc the entry's checksum, the same on every replica
         */
        void onEntry(
                int type,
                int shard,
                long version,
                long objectVersion,
                int cacheId,
                byte[] key,
                byte[] value,
                int bodyCrc);
    }

    private record Name(int shard, long version, int type) {}

    /** The blocks of one entry, by where they start in its body. */
    private static final class Pieces {
        private final int bodyLength;
        private final int bodyCrc;
        private final int type;
        private final Map<Integer, byte[]> byStart = new TreeMap<>();

        Pieces(int bodyLength, int bodyCrc, int type) {
            this.bodyLength = bodyLength;
            this.bodyCrc = bodyCrc;
            this.type = type;
        }

        /** The frame's place, left empty, and the body; null while a block is missing. */
        @org.jspecify.annotations.Nullable
        ByteBuffer whole() {
            final ByteBuffer entry = ByteBuffer.allocateDirect(
                            EntryDescriptor.aligned(EntryDescriptor.FRAME_LENGTH + bodyLength))
                    .order(ByteOrder.LITTLE_ENDIAN);
            int covered = 0;
            for (Map.Entry<Integer, byte[]> piece : byStart.entrySet()) {
                if (piece.getKey() != covered) {
                    return null;
                }
                entry.put(EntryDescriptor.FRAME_LENGTH + covered, piece.getValue());
                covered += piece.getValue().length;
            }
            return covered == bodyLength ? entry : null;
        }
    }

    private final AreaImage area;
    private long invalid;

    private AreaReader(AreaImage area) {
        this.area = area;
    }

    public static AreaReader open(Path directory, int server) {
        return new AreaReader(AreaImage.open(directory, server));
    }

    /** Hands over every entry that is not void. */
    public void forEachEntry(Visitor visitor) {
        final Map<Name, Pieces> incomplete = new HashMap<>();
        final SegmentScan scan = new SegmentScan(area.region());
        for (int segment = 0; segment < area.segmentCount(); segment++) {
            if (area.state(segment) != SegmentState.FREE) {
                scan.scan(
                        area.addressOf(segment),
                        area.segmentLength(),
                        area.generation(segment),
                        new SegmentScan.Visitor() {
                            @Override
                            public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
                                if (type == EntryType.BLOCK) {
                                    onBlock(buffer, at, incomplete);
                                } else if (type != EntryType.COMMIT_VECTOR) {
                                    hand(buffer, at, type, FrameDescriptor.bodyCrc(buffer, at), visitor);
                                }
                            }

                            @Override
                            public void onInvalid(long address, String reason) {
                                invalid++;
                            }
                        });
            }
        }
        final EntryCheck check = new EntryCheck(area.region());
        for (Pieces pieces : incomplete.values()) {
            final ByteBuffer entry = pieces.whole();
            if (entry != null
                    && EntryDescriptor.whyMalformed(entry, 0, entry.capacity()) == null
                    && check.crc(entry, EntryDescriptor.FRAME_LENGTH, pieces.bodyLength) == pieces.bodyCrc) {
                hand(entry, 0, pieces.type, pieces.bodyCrc, visitor);
            }
        }
    }

    private boolean isVoid(ByteBuffer buffer, int at) {
        final int tenure = area.tenure(EntryDescriptor.shard(buffer, at));
        return tenure == 0 || FrameDescriptor.tag(buffer, at) < tenure;
    }

    private void onBlock(ByteBuffer buffer, int at, Map<Name, Pieces> incomplete) {
        if (isVoid(buffer, at)) {
            return;
        }
        final Name name = new Name(
                EntryDescriptor.shard(buffer, at),
                EntryDescriptor.version(buffer, at),
                BlockDescriptor.entryType(buffer, at));
        final byte[] payload = new byte[BlockDescriptor.payloadLength(buffer, at)];
        buffer.get(at + BlockDescriptor.PAYLOAD_OFFSET, payload);
        incomplete
                .computeIfAbsent(
                        name,
                        unused -> new Pieces(
                                BlockDescriptor.bodyLength(buffer, at),
                                BlockDescriptor.bodyCrc(buffer, at),
                                BlockDescriptor.entryType(buffer, at)))
                .byStart
                .put(BlockDescriptor.payloadStart(buffer, at), payload);
    }

    private void hand(ByteBuffer buffer, int at, int type, int bodyCrc, Visitor visitor) {
        // An entry put together from blocks has no frame of its own; its blocks were asked already.
        if (FrameDescriptor.wordPlain(buffer, at) != 0 && isVoid(buffer, at)) {
            return;
        }
        final int flags = EntryDescriptor.flags(buffer, at);
        final int keyAt = at + EntryDescriptor.headerLength(flags);
        final byte[] key = new byte[EntryDescriptor.keyLength(buffer, at)];
        final byte[] value = new byte[EntryDescriptor.valueLength(buffer, at)];
        buffer.get(keyAt, key);
        buffer.get(keyAt + key.length, value);
        visitor.onEntry(
                type,
                EntryDescriptor.shard(buffer, at),
                EntryDescriptor.version(buffer, at),
                EntryDescriptor.objectVersion(buffer, at, flags),
                EntryDescriptor.cacheId(buffer, at),
                key,
                value,
                bodyCrc);
    }

    /** Places met so far that claim to be entries and are not valid: torn writes, copies inside values. */
    public long invalid() {
        return invalid;
    }
}
