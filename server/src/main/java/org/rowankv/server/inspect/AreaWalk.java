package org.rowankv.server.inspect;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameChecksum;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.directory.AreaImage;
import org.rowankv.server.directory.Damage;
import org.rowankv.server.inspect.StoredEntry.Place;
import org.rowankv.server.log.BlockDescriptor;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;

/**
 * A walk of an area from its first segment to its last, with every checksum. It reports entries, including void ones
 * and blocks, then the entries that lie there in blocks only, and places that claim to be entries and are not. For one
 * thread.
 *
 * <p>An entry with a damaged publication word is invisible to a scan. But its other checksum covers that word: so after
 * every entry without a successor, all possible words are tried.
 */
public final class AreaWalk {
    /** Receives the walk's findings. */
    public interface Visitor {
        void onEntry(StoredEntry entry, ByteBuffer buffer, int at);

        void onDamage(Damage damage);
    }

    private record Name(int shard, long version, int type) {}

    /** The blocks of one entry, by where they start in its body. */
    private static final class Pieces {
        private final int bodyLength;
        private final int bodyCrc;
        private final int type;
        private final Map<Integer, byte[]> byStart = new TreeMap<>();
        private final Map<Integer, Place> places = new TreeMap<>();

        Pieces(int bodyLength, int bodyCrc, int type) {
            this.bodyLength = bodyLength;
            this.bodyCrc = bodyCrc;
            this.type = type;
        }

        /** Space for the frame, left empty, and the body; null while a block is missing. */
        @Nullable
        ByteBuffer whole() {
            final ByteBuffer entry = ByteBuffer.allocate(
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

    private static final int MAX_STRIDES_TRIED = 1 << 10;

    private final AreaImage area;
    private final MemoryRegion region;
    private final Visitor visitor;
    private final EntryCheck check;
    private final FrameChecksum frames = new FrameChecksum();
    private final Map<Name, Pieces> incomplete = new HashMap<>();
    private int segment;
    /** After the last entry found in the segment. */
    private long next;
    /** After the last place of the segment that was certainly written. */
    private long written;
    /** Later places that claim to be entries: garbage of an earlier use, unless an entry follows. */
    private final List<Damage> suspected = new ArrayList<>();

    private AreaWalk(AreaImage area, Visitor visitor) {
        this.area = area;
        this.region = area.region();
        this.visitor = visitor;
        this.check = new EntryCheck(region);
    }

    public static void walk(AreaImage area, Visitor visitor) {
        final AreaWalk walk = new AreaWalk(area, visitor);
        final SegmentScan scan = new SegmentScan(area.region());
        for (int segment = 0; segment < area.segmentCount(); segment++) {
            if (isUsed(area, segment)) {
                walk.read(segment, scan);
            }
        }
        if (!walk.incomplete.isEmpty()) {
            walk.forgetAssembled(scan);
            walk.handWhatLiesInBlocks();
        }
    }

    /** The blocks of an entry stay in the log for a while after its assembly. */
    private void forgetAssembled(SegmentScan scan) {
        for (int s = 0; s < area.segmentCount(); s++) {
            if (isUsed(area, s)) {
                scan.scan(area.addressOf(s), area.segmentLength(), area.generation(s), new SegmentScan.Visitor() {
                    @Override
                    public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
                        if (type != EntryType.BLOCK && !isVoid(buffer, at)) {
                            incomplete.remove(new Name(
                                    EntryDescriptor.shard(buffer, at), EntryDescriptor.version(buffer, at), type));
                        }
                    }

                    @Override
                    public void onInvalid(long address, String reason) {
                        // Reported by the first walk.
                    }
                });
            }
        }
    }

    private static boolean isUsed(AreaImage area, int segment) {
        return area.isKnown(segment) && area.state(segment) != SegmentState.FREE;
    }

    /**
     * A log is written without gaps. So a place that claims to be an entry, and is not, is a damaged entry if the
     * written part ends there, or if a whole entry follows. Elsewhere it is left from an earlier use of the segment,
     * and resembles this use by chance.
     */
    private void read(int newSegment, SegmentScan scan) {
        segment = newSegment;
        next = area.addressOf(segment);
        written = next;
        suspected.clear();
        final long end = next + area.segmentLength();
        scan.scan(next, area.segmentLength(), area.generation(segment), new SegmentScan.Visitor() {
            @Override
            public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
                if (address > next) {
                    tryGap(next, address);
                }
                suspected.forEach(visitor::onDamage);
                suspected.clear();
                next = address + length;
                written = next;
                hand(buffer, at, type, new Place(segment, address, length));
            }

            @Override
            public void onInvalid(long address, String reason) {
                skipAbandoned(end);
                if (address == written) {
                    visitor.onDamage(damage(address, reason));
                    written = Math.min(end, written + lengthAt(address));
                } else if (address > written) {
                    suspected.add(damage(address, reason));
                }
            }
        });
        if (tryGap(next, end)) {
            suspected.forEach(visitor::onDamage); // the entry's length is uncertain
        }
    }

    /**
     * Skips places that were reserved, or made void: they hold nothing acknowledged, and the log continues after them.
     */
    private void skipAbandoned(long end) {
        while (written < end) {
            final long word = FrameDescriptor.wordPlain(region.buffer(written), region.offset(written));
            final int type = FrameDescriptor.type(word);
            if (FrameDescriptor.generation(word) != area.generation(segment)
                    || type != FrameDescriptor.RESERVED && type != FrameDescriptor.VOID) {
                return;
            }
            written = Math.min(end, written + lengthAt(written));
        }
    }

    /** The length in the word there, at least a stride. */
    private int lengthAt(long address) {
        return Math.max(
                FrameDescriptor.STRIDE,
                FrameDescriptor.length(FrameDescriptor.wordPlain(region.buffer(address), region.offset(address))));
    }

    private Damage damage(long address, String reason) {
        return new Damage(area.file(), address, "segment " + segment + ": " + reason);
    }

    /** At the start of a gap an entry's word may be damaged; returns whether one was. */
    private boolean tryGap(long from, long end) {
        if (from == end) {
            return false;
        }
        final ByteBuffer buffer = region.buffer(from);
        final int at = region.offset(from);
        final int generation = area.generation(segment);
        final long found = FrameDescriptor.wordPlain(buffer, at);
        final int foundType = FrameDescriptor.type(found);
        if (FrameDescriptor.generation(found) == generation
                && (foundType == FrameDescriptor.RESERVED
                        || foundType == FrameDescriptor.VOID
                        || FrameDescriptor.isEntryType(foundType))) {
            return false; // nothing was acknowledged here, or it is reported already
        }
        final long strides = Math.min((end - from) / FrameDescriptor.STRIDE, MAX_STRIDES_TRIED);
        for (int length = 1; length <= strides; length++) {
            for (int type = EntryType.PUT; type <= EntryType.BLOCK; type++) {
                final int crc = frames.placement(
                        from,
                        FrameDescriptor.word(generation, length, type),
                        FrameDescriptor.bodyCrc(buffer, at),
                        FrameDescriptor.tag(buffer, at),
                        FrameDescriptor.stamp(buffer, at));
                if (crc == FrameDescriptor.placementCrc(buffer, at)) {
                    visitor.onDamage(damage(
                            from,
                            "the publication word of an entry is damaged (" + EntryType.name(type) + " of "
                                    + length * FrameDescriptor.STRIDE + " bytes)"));
                    return true;
                }
            }
        }
        return false;
    }

    private void hand(ByteBuffer buffer, int at, int type, Place place) {
        final boolean isVoid = type != EntryType.COMMIT_VECTOR && isVoid(buffer, at);
        if (type == EntryType.BLOCK) {
            if (!isVoid) {
                remember(buffer, at, place);
            }
            visitor.onEntry(block(buffer, at, place, isVoid), buffer, at);
        } else {
            visitor.onEntry(entry(buffer, at, type, place, List.of(), isVoid), buffer, at);
        }
    }

    private boolean isVoid(ByteBuffer buffer, int at) {
        final int shard = EntryDescriptor.shard(buffer, at);
        if (shard >= area.shardCount()) {
            return true;
        }
        final int tenure = area.tenure(shard);
        return tenure == 0 || FrameDescriptor.tag(buffer, at) < tenure;
    }

    private void remember(ByteBuffer buffer, int at, Place place) {
        final Name name = new Name(
                EntryDescriptor.shard(buffer, at),
                EntryDescriptor.version(buffer, at),
                BlockDescriptor.entryType(buffer, at));
        final byte[] payload = new byte[BlockDescriptor.payloadLength(buffer, at)];
        buffer.get(at + BlockDescriptor.PAYLOAD_OFFSET, payload);
        final Pieces pieces = incomplete.computeIfAbsent(
                name,
                unused -> new Pieces(
                        BlockDescriptor.bodyLength(buffer, at),
                        BlockDescriptor.bodyCrc(buffer, at),
                        BlockDescriptor.entryType(buffer, at)));
        pieces.byStart.put(BlockDescriptor.payloadStart(buffer, at), payload);
        pieces.places.put(BlockDescriptor.payloadStart(buffer, at), place);
    }

    private void handWhatLiesInBlocks() {
        for (Pieces pieces : incomplete.values()) {
            final ByteBuffer entry = pieces.whole();
            if (entry != null
                    && EntryDescriptor.whyMalformed(entry, 0, entry.capacity()) == null
                    && check.crc(entry, EntryDescriptor.FRAME_LENGTH, pieces.bodyLength) == pieces.bodyCrc) {
                final List<Place> places = new ArrayList<>(pieces.places.values());
                visitor.onEntry(entry(entry, 0, pieces.type, places.get(0), places, false), entry, 0);
            }
        }
    }

    private static StoredEntry block(ByteBuffer buffer, int at, Place place, boolean isVoid) {
        final long version = EntryDescriptor.version(buffer, at);
        return new StoredEntry(
                place,
                List.of(),
                EntryType.BLOCK,
                EntryDescriptor.shard(buffer, at),
                version,
                version,
                0,
                new byte[0],
                BlockDescriptor.payloadLength(buffer, at),
                0,
                Long.MAX_VALUE,
                0,
                0,
                0,
                0,
                List.of(),
                isVoid);
    }

    private StoredEntry entry(ByteBuffer buffer, int at, int type, Place place, List<Place> blocks, boolean isVoid) {
        final int flags = EntryDescriptor.flags(buffer, at);
        final int keyAt = at + EntryDescriptor.headerLength(flags);
        final byte[] key = new byte[EntryDescriptor.keyLength(buffer, at)];
        buffer.get(keyAt, key);
        final int valueLength = EntryDescriptor.valueLength(buffer, at);
        return new StoredEntry(
                place,
                blocks,
                type,
                EntryDescriptor.shard(buffer, at),
                EntryDescriptor.version(buffer, at),
                EntryDescriptor.objectVersion(buffer, at, flags),
                EntryDescriptor.cacheId(buffer, at),
                key,
                valueLength,
                check.crc(buffer, keyAt + key.length, valueLength),
                EntryDescriptor.expiryMs(buffer, at, flags),
                flags,
                EntryDescriptor.sessionId(buffer, at, flags),
                EntryDescriptor.sequence(buffer, at, flags),
                EntryDescriptor.unanswered(buffer, at, flags),
                type == EntryType.SESSION_CLOSE ? alsoClosed(buffer, at) : List.of(),
                isVoid);
    }

    private static List<Long> alsoClosed(ByteBuffer buffer, int at) {
        final List<Long> others = new ArrayList<>();
        for (int number = 1; number < EntryDescriptor.closedSessions(buffer, at); number++) {
            others.add(EntryDescriptor.closedSession(buffer, at, number));
        }
        return others;
    }
}
