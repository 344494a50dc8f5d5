package org.rowankv.server.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.checkpoint.Checkpoint.Origin;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.embedded.KeptCheckpoints;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.retention.ClearSweepAgent;
import org.rowankv.server.shard.Clears;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** A server with two shards, driven by the test: it writes, takes checkpoints, ends and starts again. */
final class CheckpointedServer {
    private static final int SHARDS = 2;
    private static final int CACHE = 3;
    private static final int OWNER = 1;
    private static final KeyHash HASH = new KeyHash(11);

    final KeptCheckpoints checkpoints = new KeptCheckpoints();
    Segments segments;
    Replicas replicas;
    CheckpointLoader load;
    private final ManualClock clock = new ManualClock();
    private final ErrorLog errors = new ErrorLog(clock);
    private final EntryDraft draft = new EntryDraft();
    private CheckpointAgent agent;
    private AppendLog log;
    private long version = Version.of(1, 0);

    CheckpointedServer() {
        this(Area.create(
                new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, SHARDS, Durability.NONE),
                new SplittableRandomSource(1)));
    }

    CheckpointedServer(Area area) {
        start(area);
    }

    /** The process has ended; the next one starts. */
    void restart() {
        start(segments.area());
    }

    /** As above, with the reopened area. */
    void start(Area area) {
        segments = new Segments(area, new SplittableRandomSource(2), 0, 1 << 20);
        final ShardReplica[] held = new ShardReplica[SHARDS];
        for (int shard = 0; shard < SHARDS; shard++) {
            held[shard] = new ShardReplica(shard, SHARDS, HASH, segments, 1);
        }
        replicas = new Replicas(held);
        final CheckpointRegistry book = new CheckpointRegistry(segments, replicas);
        final Origin origin =
                new Origin(5, area.superblock().areaId(), 0, 11, 0, SHARDS, segments.count(), segments.length());
        load = new CheckpointLoader(checkpoints, origin, segments, replicas, book);
        final RecoveredServer server = new RecoveredServer(0, segments, replicas, false, errors);
        server.read(1, clock, load);
        server.settle();
        server.finish();
        agent = new CheckpointAgent(book, checkpoints, origin, segments, replicas, shard -> version, clock, errors, 1);
        log = new AppendLog(segments, SegmentOwner.WORKER);
    }

    /** The server leaves a shard and joins it again. */
    void rejoin(int shard) {
        replicas.end(replicas.get(shard));
        final ShardReplica next = new ShardReplica(shard, SHARDS, HASH, segments, 1);
        next.recovered(OWNER);
        replicas.begin(next);
    }

    /** Returns the entry's address. The key belongs to that shard. */
    long put(int shard, String key) {
        final byte[] bytes = bytes(key);
        version = Version.next(version);
        draft.begin(EntryType.PUT, shard, CACHE).key(bytes, 0, bytes.length).version(version);
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        assertThat(log.ensureRoom(length)).isTrue();
        final long address = log.append(draft, 1);
        final int unused = replicas.get(shard).apply(OWNER, positionOf(shard, key), address, EntryType.PUT, length);
        return address;
    }

    /** Returns the address of the entry that opens the session at shard 0. */
    long openSession(long session) {
        version = Version.next(version);
        draft.begin(EntryType.SESSION_OPEN, 0, 0).request(session, 0, 0).version(version);
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        assertThat(log.ensureRoom(length)).isTrue();
        final long address = log.append(draft, 1);
        final int unused = replicas.get(0).apply(OWNER, 0, address, EntryType.SESSION_OPEN, length);
        return address;
    }

    /** Clears the cache in that shard; returns the version. */
    long clear(int shard) {
        version = Version.next(version);
        draft.begin(EntryType.CLEAR, shard, CACHE).version(version);
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        assertThat(log.ensureRoom(length)).isTrue();
        final int unused = replicas.get(shard).apply(OWNER, 0, log.append(draft, 1), EntryType.CLEAR, length);
        return version;
    }

    /** Removes from the indexes what was cleared. */
    void sweep() {
        final ClearSweepAgent sweep = new ClearSweepAgent(segments, replicas);
        while (!sweep.isDone()) {
            assertThat(sweep.doWork()).isOne();
        }
    }

    Clears clears(int shard) {
        return replicas.get(shard).clears();
    }

    /** Whether a reader finds an object of that key. */
    boolean isVisible(int shard, String key) {
        final long address = find(shard, key);
        return address != 0
                && EntryDescriptor.version(
                                segments.region().buffer(address),
                                segments.region().offset(address))
                        > clears(shard).clearedUpTo(CACHE);
    }

    long clearedUpTo(int shard) {
        return clears(shard).clearedUpTo(CACHE);
    }

    /** Flips a bit at the address. */
    void flip(long address, int bit) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address) + bit / Byte.SIZE;
        entry.put(at, (byte) (entry.get(at) ^ 1 << bit % Byte.SIZE));
    }

    /** The key of that number in that shard. */
    static String key(int shard, int number) {
        for (int i = 0; ; i++) {
            final String key = number + "." + i;
            final byte[] bytes = bytes(key);
            if (ShardMap.shardOf(HASH.hash(CACHE, bytes, 0, bytes.length), SHARDS) == shard) {
                return key;
            }
        }
    }

    /** The next entry goes into another segment; this one is closed and committed. */
    void closeLog() {
        log.retire();
    }

    long find(int shard, String key) {
        final byte[] bytes = bytes(key);
        return replicas.get(shard).index().find(positionOf(shard, key), CACHE, bytes, 0, bytes.length);
    }

    long positionOf(int shard, String key) {
        final byte[] bytes = bytes(key);
        return replicas.get(shard).positionOf(HASH.hash(CACHE, bytes, 0, bytes.length));
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.US_ASCII);
    }

    private void settle() {
        for (int shard = 0; shard < SHARDS; shard++) {
            replicas.get(shard).raiseCommitVersion(version);
            replicas.get(shard).forgetDeletions(OWNER);
        }
    }

    /** Everything is on all replicas, and a checkpoint is taken. */
    void takeCheckpoint() {
        takeCheckpointAfterFailures();
        assertThat(errors.distinct()).isEmpty();
    }

    /** As above; earlier failed rounds may have been reported. */
    void takeCheckpointAfterFailures() {
        settle();
        final long before = agent.taken();
        for (int cycle = 0; agent.taken() == before; cycle++) {
            assertThat(cycle).isLessThan(100);
            clock.advanceMs(1);
            final int unused = agent.doWork();
        }
    }

    /** A round fails. */
    void failCheckpoint() {
        settle();
        final long before = agent.taken();
        final long failures = errors.count();
        for (int cycle = 0; errors.count() == failures; cycle++) {
            assertThat(cycle).isLessThan(100);
            clock.advanceMs(1);
            final int unused = agent.doWork();
        }
        assertThat(agent.taken()).isEqualTo(before);
    }

    /** A round without a result. Returns its report. */
    List<ErrorLog.Observation> tryCheckpoint() {
        settle();
        final long before = agent.taken();
        for (int cycle = 0; cycle < 100; cycle++) {
            clock.advanceMs(1);
            final int unused = agent.doWork();
        }
        assertThat(agent.taken()).isEqualTo(before);
        return errors.distinct();
    }
}
