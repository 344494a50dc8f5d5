package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameChecksum;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.cleaning.CleanAgent;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.BlockDescriptor;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.retention.ClearSweepAgent;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/**
 * One replica of one shard with its cleaner and sweep, all run by the test. Its bytes outlive it: it is restarted from
 * them, or from a copy of them, as after a kill.
 */
final class CascadeShard {
    static final int CACHE = 3;
    /** A cache that no test clears. */
    static final int OTHER = 4;

    static final KeyHash HASH = new KeyHash(11);
    private static final int OWNER = 1;
    private static final int MESSAGE = 256;
    private static final AreaSettings AREA = new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE);

    /** Segments that the cleaner skips, as it does while a sender names them. */
    final Set<Integer> leftAlone = new HashSet<>();

    final ManualClock clock = new ManualClock();
    private final KeptMemory memory = new KeptMemory(AREA);
    private final EntryDraft draft = new EntryDraft();
    private long version = Version.of(1, 0);
    private int starts;
    Segments segments;
    ShardReplica replica;
    Replicas replicas;
    ClearSweepAgent sweep;
    CleanAgent cleaner;
    private AppendLog log;

    CascadeShard() {
        use(new Segments(Area.create(AREA, memory, new SplittableRandomSource(1)), random(), 0, 1 << 20));
        replica.recovered(OWNER);
        run();
    }

    private SplittableRandomSource random() {
        return new SplittableRandomSource(20 + starts++);
    }

    private void use(Segments newSegments) {
        segments = newSegments;
        replica = new ShardReplica(0, 1, HASH, segments, 1);
        replicas = new Replicas(new ShardReplica[] {replica});
    }

    private void run() {
        sweep = new ClearSweepAgent(segments, replicas);
        cleaner = new CleanAgent(
                segments,
                replicas,
                leftAlone::contains,
                sequence -> false,
                sweep::horizon,
                () -> true,
                clock,
                0,
                segments.count());
        log = new AppendLog(segments, SegmentOwner.WORKER);
    }

    /** Ends the process and restarts it from its bytes. */
    void restart(Consumer<RecoveredServer> beforeItsEnd) {
        leftAlone.clear();
        final Area area = Area.open(AREA, memory, OpenOverrides.NONE);
        use(new Segments(area, random(), 0, 1 << 20));
        final RecoveredServer server = new RecoveredServer(0, segments, replicas, false, new ErrorLog(clock));
        server.scan(1, clock, null);
        beforeItsEnd.accept(server);
        server.finish();
        run();
    }

    /** Whether a start from a copy of the current bytes finds an object of that key. */
    boolean isFoundByAStart(String key) {
        final Area area = Area.open(AREA, memory.copy(), OpenOverrides.NONE);
        final Segments found = new Segments(area, new SplittableRandomSource(1_000), 0, 1 << 20);
        final ShardReplica started = new ShardReplica(0, 1, HASH, found, 1);
        final RecoveredServer server =
                new RecoveredServer(0, found, new Replicas(new ShardReplica[] {started}), false, new ErrorLog(clock));
        server.scan(1, clock, null);
        server.finish();
        final byte[] name = bytes(key);
        final long address = started.index().find(positionOf(CACHE, name), CACHE, name, 0, name.length);
        if (address == 0) {
            return false;
        }
        final ByteBuffer buffer = found.region().buffer(address);
        final int at = found.region().offset(address);
        return started.isVisible(
                FrameDescriptor.type(FrameDescriptor.wordPlain(buffer, at)),
                CACHE,
                EntryDescriptor.version(buffer, at));
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.US_ASCII);
    }

    private long positionOf(int cacheId, byte[] key) {
        return replica.positionOf(HASH.hash(cacheId, key, 0, key.length));
    }

    // --- writing ---

    /** Writes an entry of {@link #CACHE}; returns its address. */
    long write(int type, String key, int valueLength) {
        return write(type, CACHE, key, 0, valueLength);
    }

    /** Writes and applies an entry; returns its address. */
    long write(int type, int cacheId, String key, long sessionId, int valueLength) {
        draft(type, cacheId, key, sessionId, valueLength);
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        assertThat(log.ensureRoom(length)).isTrue();
        final long address = log.append(draft, 1);
        replica.apply(OWNER, EntryType.isKeyed(type) ? positionOf(cacheId, bytes(key)) : 0, address, type, length);
        return address;
    }

    private void draft(int type, int cacheId, String key, long sessionId, int valueLength) {
        version = Version.next(version);
        final byte[] name = bytes(key);
        draft.begin(type, 0, cacheId)
                .key(name, 0, name.length)
                .request(sessionId, sessionId == 0 ? 0 : 1, 0)
                .version(version);
        if (valueLength > 0) {
            draft.value(new byte[valueLength], 0, valueLength);
        }
    }

    /** An entry with the next version that is in no local log: from another replica. */
    ByteBuffer elsewhere(String key, long sessionId, int valueLength) {
        draft(EntryType.PUT, CACHE, key, sessionId, valueLength);
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        final Segments other = new Segments(
                Area.create(AREA, new KeptMemory(AREA), new SplittableRandomSource(1)),
                new SplittableRandomSource(2),
                0,
                1 << 20);
        final AppendLog there = new AppendLog(other, SegmentOwner.WORKER);
        assertThat(there.ensureRoom(length)).isTrue();
        final long address = there.append(draft, 1);
        return other.region()
                .buffer(address)
                .slice(other.region().offset(address), length)
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Lands a put as blocks; it takes effect once they are assembled. */
    void putInBlocks(String key, long sessionId, int valueLength) {
        draft(EntryType.PUT, CACHE, key, sessionId, valueLength);
        final long ofEntry = version;
        final int used = (int) draft.usedLength();
        final ByteBuffer entry =
                ByteBuffer.allocateDirect(EntryDescriptor.aligned(used)).order(ByteOrder.LITTLE_ENDIAN);
        final int crc = draft.writeBody(entry, 0);
        final int body = used - EntryDescriptor.FRAME_LENGTH;
        final int perBlock = MESSAGE - BlockDescriptor.PAYLOAD_OFFSET;
        final ByteBuffer block = ByteBuffer.allocateDirect(MESSAGE).order(ByteOrder.LITTLE_ENDIAN);
        for (int start = 0; start < body; start += perBlock) {
            final int payload = Math.min(perBlock, body - start);
            final int blocks = (body + perBlock - 1) / perBlock;
            BlockDescriptor.header(block, 0, ofEntry, 0, 0, body, start, payload, crc, blocks, EntryType.PUT);
            block.put(BlockDescriptor.PAYLOAD_OFFSET, entry, EntryDescriptor.FRAME_LENGTH + start, payload);
            final int length = EntryDescriptor.aligned(BlockDescriptor.PAYLOAD_OFFSET + payload);
            final int bodyLength = BlockDescriptor.PAYLOAD_OFFSET + payload - EntryDescriptor.FRAME_LENGTH;
            final int blockCrc = new FrameChecksum().body(block, EntryDescriptor.FRAME_LENGTH, bodyLength);
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

    /** Later entries go to another segment, and this one may be cleaned. */
    void closeLog() {
        log.retire();
    }

    /** Closes the log after a mix of dead and live bytes that makes its segment worth cleaning. */
    void closeLogWorthCleaning() {
        write(EntryType.PUT, OTHER, "filling", 0, 20_000);
        write(EntryType.PUT, OTHER, "filling", 0, 20_000);
        closeLog();
    }

    /** All entries are on all replicas, so deletions need not be remembered. */
    void commit() {
        replica.raiseCommitVersion(version);
        replica.forgetDeletions(OWNER);
    }

    /** Later copies of the cleaner go to another segment. */
    void closeCleanersLog() {
        cleaner.onClose();
    }

    long addressOf(String key) {
        final byte[] name = bytes(key);
        return replica.index().find(positionOf(CACHE, name), CACHE, name, 0, name.length);
    }

    // --- what the log holds ---

    /** The segments with an entry of that type and key. */
    Set<Integer> segmentsWith(int type, String key) {
        final Set<Integer> with = new HashSet<>();
        final byte[] name = bytes(key);
        final SegmentScan scan = new SegmentScan(segments.region());
        for (int s = 0; s < segments.count(); s++) {
            if (segments.state(s) != SegmentState.FREE) {
                scan.scan(
                        segments.area().addressOf(s),
                        segments.length(),
                        segments.generation(s),
                        new SegmentScan.Visitor() {
                            @Override
                            public void onEntry(ByteBuffer buffer, int at, long address, int found, int length) {
                                if (found == type && isOf(buffer, at, name)) {
                                    with.add(segments.segmentOf(address));
                                }
                            }

                            @Override
                            public void onInvalid(long address, String reason) {
                                // Damaged by a test.
                            }
                        });
            }
        }
        return with;
    }

    private static boolean isOf(ByteBuffer buffer, int at, byte[] key) {
        final int flags = EntryDescriptor.flags(buffer, at);
        final byte[] found = new byte[EntryDescriptor.keyLength(buffer, at)];
        buffer.get(at + EntryDescriptor.headerLength(flags), found);
        return java.util.Arrays.equals(found, key) && EntryDescriptor.cacheId(buffer, at) == CACHE;
    }
}
