package org.rowankv.server.cleaning;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/** One replica of one shard, the writer of its log, and its cleaner, all driven by the test. */
public final class CleanedShard {
    public static final int CACHE = 3;
    private static final int OWNER = 1;
    private static final KeyHash HASH = new KeyHash(11);

    public final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            1 << 20);
    public final ShardReplica replica = new ShardReplica(0, 1, HASH, segments, 1);
    /** What clears with smaller stamps have ended is counted. */
    long clearHorizon;
    /** Whether the cleaner finds the log idle. */
    boolean closesIdleLog;

    final CleanAgent cleaner = new CleanAgent(
            segments,
            new Replicas(new ShardReplica[] {replica}),
            segment -> false,
            sequence -> closesIdleLog && closeLog(),
            () -> clearHorizon,
            () -> true,
            SystemClock.INSTANCE,
            0,
            segments.count());

    private final AppendLog log = new AppendLog(segments, SegmentOwner.WORKER);
    private final EntryDraft draft = new EntryDraft();
    private long version = Version.of(1, 0);

    public long write(int type, String key, int valueLength) {
        return write(0, 0, 0, type, key, valueLength);
    }

    /** As a request of a session, with the number of unanswered ones before it. */
    public long write(long sessionId, long sequence, int unanswered, int type, String key, int valueLength) {
        final byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        version = Version.next(version);
        draft.begin(type, 0, CACHE)
                .key(bytes, 0, bytes.length)
                .request(sessionId, sequence, unanswered)
                .version(version);
        if (valueLength > 0) {
            draft.value(new byte[valueLength], 0, valueLength);
        }
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        assertThat(log.ensureRoom(length)).isTrue();
        final long address = log.append(draft, 1);
        final long position = EntryType.isKeyed(type) ? positionOf(key) : 0;
        replica.apply(OWNER, position, address, type, length);
        return address;
    }

    /** The last entry written. */
    public long version() {
        return version;
    }

    public long addressOf(String key) {
        final byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        return replica.index().find(positionOf(key), CACHE, bytes, 0, bytes.length);
    }

    public long positionOf(String key) {
        final byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        return replica.positionOf(HASH.hash(CACHE, bytes, 0, bytes.length));
    }

    /** The next entry goes into another segment, and the last one may be cleaned. */
    public boolean closeLog() {
        final boolean wasOpen = log.openSegment() >= 0;
        log.retire();
        return wasOpen;
    }

    /** Makes a segment with a third live worth cleaning. */
    void writeWhatSoonIsDead() {
        write(EntryType.PUT, "other", 20_000);
        write(EntryType.PUT, "other", 20_000);
        closeLog();
    }
}
