package org.rowankv.server.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.rowankv.rdma.rowan.FrameChecksum;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.digest.EntryAssembler;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.BlockDescriptor;
import org.rowankv.server.log.CommitVector;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;

/** A server's area with one shard, written by a process that then ends, and read by starts. */
public final class LoggedServer {
    public static final int CACHE = 3;
    public static final KeyHash HASH = new KeyHash(11);
    static final int SEGMENT = 64 << 10;
    private static final int MESSAGE = 256;

    private final int id;
    private final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
    private final Area area;
    private final EntryDraft draft = new EntryDraft();
    private Segments segments;
    private AppendLog log;
    private SegmentReader reader;

    public LoggedServer(int id) {
        this(id, SegmentOwner.WORKER);
    }

    /** @param owner of its log */
    LoggedServer(int id, SegmentOwner owner) {
        this.id = id;
        this.area = Area.create(
                new AreaSettings(null, 1 << 20, SEGMENT, id, 5, 1, Durability.NONE), new SplittableRandomSource(id));
        this.segments = newSegments();
        this.log = new AppendLog(segments, owner);
    }

    private Segments newSegments() {
        return new Segments(area, new SplittableRandomSource(id + 20), 0, 1 << 20);
    }

    static Configuration configuration() {
        return Configuration.initial(1, 11, 2, 2, 1, List.of(1L, 1L));
    }

    public int freeSegments() {
        return segments.freeCount();
    }

    public int openSegment() {
        return log.openSegment();
    }

    /** The next entry goes into another segment. */
    public void closeSegment() {
        log.retire();
    }

    Area area() {
        return area;
    }

    ErrorLog errors() {
        return errors;
    }

    /** Returns the entry's address. */
    public long put(long version, String key, int valueLength) {
        return write(EntryType.PUT, version, key, 0, 0, valueLength);
    }

    /** Returns the entry's address. */
    public long write(int type, long version, String key, long sessionId, long sequence, int valueLength) {
        begin(type, version, key, sessionId, sequence, valueLength);
        assertThat(log.ensureRoom(EntryDescriptor.aligned((int) draft.usedLength())))
                .isTrue();
        return log.append(draft, 1);
    }

    private void begin(int type, long version, String key, long sessionId, long sequence, int valueLength) {
        final byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        draft.begin(type, 0, CACHE)
                .key(bytes, 0, bytes.length)
                .request(sessionId, sequence, 0)
                .version(version);
        if (valueLength > 0) {
            draft.value(new byte[valueLength], 0, valueLength);
        }
    }

    /** Returns the record's address. */
    public long commitVector(long version) {
        final byte[] pairs = new byte[CommitVector.length(1)];
        CommitVector.set(pairs, 0, 0, version);
        draft.begin(EntryType.COMMIT_VECTOR, 0, 0).value(pairs, 0, pairs.length);
        assertThat(log.ensureRoom(EntryDescriptor.aligned((int) draft.usedLength())))
                .isTrue();
        return log.append(draft, 1);
    }

    /** A put that lands in messages: as blocks. */
    public void putInBlocks(long version, String key, int valueLength) {
        begin(EntryType.PUT, version, key, 0, 0, valueLength);
        final int used = (int) draft.usedLength();
        final ByteBuffer entry =
                ByteBuffer.allocateDirect(EntryDescriptor.aligned(used)).order(ByteOrder.LITTLE_ENDIAN);
        final int crc = draft.writeBody(entry, 0);
        final int body = used - EntryDescriptor.FRAME_LENGTH;
        final int perBlock = MESSAGE - BlockDescriptor.PAYLOAD_OFFSET;
        final ByteBuffer block = ByteBuffer.allocateDirect(MESSAGE).order(ByteOrder.LITTLE_ENDIAN);
        for (int start = 0; start < body; start += perBlock) {
            final int payload = Math.min(perBlock, body - start);
            BlockDescriptor.header(
                    block,
                    0,
                    version,
                    0,
                    0,
                    body,
                    start,
                    payload,
                    crc,
                    (body + perBlock - 1) / perBlock,
                    EntryType.PUT);
            block.put(BlockDescriptor.PAYLOAD_OFFSET, entry, EntryDescriptor.FRAME_LENGTH + start, payload);
            final int blockUsed = BlockDescriptor.PAYLOAD_OFFSET + payload;
            final int length = EntryDescriptor.aligned(blockUsed);
            final int blockCrc = new FrameChecksum()
                    .body(block, EntryDescriptor.FRAME_LENGTH, blockUsed - EntryDescriptor.FRAME_LENGTH);
            assertThat(log.ensureRoom(length)).isTrue();
            log.appendBody(
                    block,
                    EntryDescriptor.FRAME_LENGTH,
                    length - EntryDescriptor.FRAME_LENGTH,
                    EntryType.BLOCK,
                    blockCrc,
                    1,
                    0);
        }
    }

    /** The process has ended; reads the area as the next one does. */
    public RecoveredServer start() {
        return start(false);
    }

    /** @param joining whether its replica is catching up */
    RecoveredServer start(boolean joining) {
        return start(joining, 1);
    }

    /** @param threads that read at the same time */
    RecoveredServer start(boolean joining, int threads) {
        return start(joining, threads, false);
    }

    /** Its backup log is written by its senders. */
    RecoveredServer startPlacedBySenders() {
        return start(false, 1, true);
    }

    private RecoveredServer start(boolean joining, int threads, boolean placedBySenders) {
        final Segments found = newSegments();
        segments = found;
        final ShardReplica replica = new ShardReplica(0, 1, HASH, found, 1);
        if (joining) {
            replica.beginJoining();
        }
        final RecoveredServer server = new RecoveredServer(
                id, found, new Replicas(new ShardReplica[] {replica}), true, placedBySenders, errors);
        server.scan(threads, SystemClock.INSTANCE, null);
        return server;
    }

    public Segments segments() {
        return segments;
    }

    /** Of the newest {@link #read}. */
    SegmentReader reader() {
        return reader;
    }

    /**
     * The process has ended; reads the area as the next one does, whose threads happen to read the segments in the
     * order in which these were opened, or in reverse.
     */
    ShardReplica read(boolean oldestFirst) {
        final Segments found = newSegments();
        segments = found;
        final ShardReplica replica = new ShardReplica(0, 1, HASH, found, 1);
        final Replicas replicas = new Replicas(new ShardReplica[] {replica});
        final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
        final RecoveredServer server = new RecoveredServer(id, found, replicas, true, errors);
        reader = new SegmentReader(id, found, replicas, new EntryAssembler(found, 0), server, errors, true, false, 1);
        replica.beginScan();
        IntStream.range(0, found.count())
                .filter(segment -> found.state(segment) != SegmentState.FREE)
                .boxed()
                .sorted(Comparator.comparingLong(segment -> (oldestFirst ? 1 : -1) * found.sequence(segment)))
                .forEach(reader::read);
        return replica;
    }

    /** The address of the newest entry of that key, or 0. */
    static long addressOf(ShardReplica replica, String key) {
        final byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        return replica.index()
                .find(replica.positionOf(HASH.hash(CACHE, bytes, 0, bytes.length)), CACHE, bytes, 0, bytes.length);
    }

    /** Version of the object of that key, or 0. */
    public static long versionOf(RecoveredServer server, String key) {
        final long address = addressOf(server.replicas().get(0), key);
        if (address == 0) {
            return 0;
        }
        final Segments segments = server.segments();
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        assertThat(FrameDescriptor.generation(FrameDescriptor.wordPlain(buffer, at)))
                .isEqualTo(segments.generation(segments.segmentOf(address)));
        assertThat(segments.state(segments.segmentOf(address))).isNotEqualTo(SegmentState.FREE);
        return EntryDescriptor.version(buffer, at);
    }
}
